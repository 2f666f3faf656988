// WebSocket through all layers: routes, middleware, real sockets, shutdown of the server.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/websocket.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/topics/topics.hpp"

namespace katana::server {
namespace {

constexpr std::string_view handshake_fields =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

// A text frame with a mask of zero; at most 125 bytes.
std::string frame(const std::string& text, char opcode = '\x81') {
  return {opcode + std::string(1, static_cast<char>(0x80 + text.size())) + std::string(4, '\0') +
          text};
}
std::string answer(const std::string& text, char opcode = '\x81') {
  return opcode + std::string(1, static_cast<char>(text.size())) + text;
}
const std::string going_away = "\x03\xe9The server is stopping.";

class WebSocketServerTest : public testing::Test {
 protected:
  WebSocketServerTest() {
    options.port = 0;
    options.reactors = 2;
    options.drain_timeout = seconds(20);
    options.reactor.engine.links_max = 64;
    router.get("/plain", [] { return Reply::text("plain"); });
    router.websocket("/echo", {.on_message = [](WebSocket& socket, Bytes payload,
                                                MessageKind kind) { socket.send(payload, kind); }});
  }

  // Runs `clients` beside a server on the routes, then ends it.
  template <class Clients>
  ServerReport serve(Clients clients) {
    auto service = std::move(router).build();
    EXPECT_TRUE(service);
    HttpServer server(options, *service);
    EXPECT_TRUE(server.start());
    return serve_clients(server, clients);
  }
  static std::string open(Client& client, std::string_view target, std::string_view more = "") {
    client.send_get(target, std::string(handshake_fields) + std::string(more));
    return client.receive_until("\r\n\r\n");
  }

  HttpServerOptions options;
  Router router;
};

TEST_F(WebSocketServerTest, a_route_answers_messages_on_every_engine) {
  for (const EngineKind kind : engines()) {
    if (!choose_engine(engine_name(kind))) continue;  // forbidden here
    options.engine = kind;
    router = Router();
    router.websocket("/echo",
                     {.on_message = [](WebSocket& socket, Bytes payload, MessageKind message) {
                       socket.send(payload, message);
                     }});
    serve([](std::uint16_t port) {
      Client client(port);
      const std::string head = open(client, "/echo");
      EXPECT_TRUE(head.starts_with("HTTP/1.1 101 ")) << head;
      EXPECT_TRUE(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")) << head;
      EXPECT_FALSE(head.contains("Content-Length"));
      client.send(frame("hello"));
      EXPECT_EQ(client.receive_until(answer("hello")), answer("hello"));
    });
  }
}

TEST_F(WebSocketServerTest, frames_right_behind_the_handshake_are_read) {
  serve([](std::uint16_t port) {
    Client client(port);
    client.send("GET /plain HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n" +
                std::string(handshake_fields) + "\r\n" + frame("one") + frame("two"));
    const std::string all = client.receive_until(answer("one") + answer("two"));
    EXPECT_TRUE(all.contains("plain"));
    EXPECT_TRUE(all.contains(" 101 "));
  });
}

TEST_F(WebSocketServerTest, what_is_no_handshake_gets_an_answer_and_the_connection_goes_on) {
  router.any("/none", [] { return Reply::text("no websocket"); });
  serve([](std::uint16_t port) {
    Client client(port);
    const std::string plain = client.ask("/echo");
    EXPECT_TRUE(plain.starts_with("HTTP/1.1 426 ")) << plain;
    EXPECT_TRUE(plain.contains("Sec-WebSocket-Version: 13\r\n"));
    EXPECT_TRUE(plain.contains("Upgrade: websocket\r\n"));
    const std::string foreign =
        client.ask("/echo", std::string(handshake_fields) + "Origin: https://evil.example\r\n");
    EXPECT_TRUE(foreign.starts_with("HTTP/1.1 403 ")) << foreign;
    const std::string other = client.ask("/none", handshake_fields);
    EXPECT_TRUE(other.ends_with("no websocket")) << other;
    EXPECT_TRUE(open(client, "/echo", "Origin: http://localhost\r\n").starts_with("HTTP/1.1 101 "));
  });
}

TEST_F(WebSocketServerTest, behind_a_trusted_proxy_pages_are_of_the_host_that_the_client_used) {
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  options.http.forwarded = http::ForwardedFields::forwarded;
  options.http.forwarded_parts.push_back(http::ForwardedPart::host);
  serve([](std::uint16_t port) {
    const auto status_of = [port](const std::string& fields) {
      Client client(port);
      return open(client, "/echo", fields).substr(0, 12);
    };
    const std::string forwarded = "Forwarded: for=198.51.100.1;host=shop.example\r\n";
    EXPECT_EQ(status_of("Origin: https://shop.example\r\n" + forwarded), "HTTP/1.1 101");
    EXPECT_EQ(status_of("Origin: http://localhost\r\n" + forwarded), "HTTP/1.1 403");
    EXPECT_EQ(status_of("Origin: https://shop.example\r\n"), "HTTP/1.1 403");
  });
}

TEST_F(WebSocketServerTest, a_connection_that_ends_with_its_request_cannot_be_upgraded) {
  serve([](std::uint16_t port) {
    Client client(port);
    client.send("GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
                std::string(handshake_fields) + "\r\n");
    EXPECT_TRUE(client.receive_until("").starts_with("HTTP/1.1 400 "));
  });
}

TEST_F(WebSocketServerTest, middleware_answers_instead_and_a_factory_may_refuse) {
  Group inner = router.group("/in");
  inner.use({.before = [](const RequestView& request) -> std::optional<Reply> {
    if (request.field("Authorization")) return std::nullopt;
    return problem(401, "Who are you?");
  }});
  inner.websocket("/{name}",
                  [](const RequestView& request) -> Result<std::unique_ptr<WebSocketHandler>> {
                    struct Greeter final : WebSocketHandler {
                      void on_open(WebSocket& socket) override { socket.send_text("welcome"); }
                      void on_message(WebSocket&, Bytes, MessageKind) override {}
                    };
                    if (request.path().ends_with("nobody"))
                      return fail(Code::not_found, "There is no such room.");
                    return std::make_unique<Greeter>();
                  });
  serve([](std::uint16_t port) {
    Client client(port);
    EXPECT_TRUE(client.ask("/in/room", handshake_fields).starts_with("HTTP/1.1 401 "));
    const std::string fields = std::string(handshake_fields) + "Authorization: x\r\n";
    EXPECT_TRUE(client.ask("/in/nobody", fields).starts_with("HTTP/1.1 404 "));
    client.send_get("/in/room", fields);
    EXPECT_TRUE(client.receive_until(answer("welcome")).starts_with("HTTP/1.1 101 "));
  });
}

TEST_F(WebSocketServerTest, a_subprotocol_is_agreed_on) {
  router.websocket("/versions",
                   {.on_open = [](WebSocket& socket) { socket.send_text(socket.subprotocol()); }},
                   {.subprotocols = {"v2", "v1"}});
  serve([](std::uint16_t port) {
    Client client(port);
    client.send_get("/versions",
                    std::string(handshake_fields) + "Sec-WebSocket-Protocol: v1, v2\r\n");
    const std::string all = client.receive_until(answer("v2"));
    EXPECT_TRUE(all.contains("Sec-WebSocket-Protocol: v2\r\n")) << all;
  });
}

TEST_F(WebSocketServerTest, a_topic_reaches_subscribers_of_every_reactor) {
  Topics topics;
  router.websocket("/topic",
                   {.on_open =
                        [&](WebSocket& socket) {
                          topics.subscribe(socket, "all");
                          socket.send_text("in");
                        },
                    .on_message = [&](WebSocket&, Bytes payload,
                                      MessageKind kind) { topics.publish("all", payload, kind); }});
  serve([&](std::uint16_t port) {
    std::vector<std::unique_ptr<Client>> clients;
    for (int count = 0; count < 12; ++count) {
      auto& client = *clients.emplace_back(std::make_unique<Client>(port));
      client.send_get("/topic", handshake_fields);
      EXPECT_TRUE(client.receive_until(answer("in")).contains(" 101 "));
    }
    EXPECT_EQ(topics.subscribers("all"), 12u);
    std::string expected;
    for (int count = 0; count < 20; ++count) {
      clients[0]->send(frame(std::to_string(count)));
      expected += answer(std::to_string(count));
    }
    for (const auto& each : clients) EXPECT_EQ(each->receive_until(answer("19")), expected);
    EXPECT_EQ(topics.publish("all", "bye", MessageKind::text).subscribers, 12u);
    for (const auto& each : clients) EXPECT_EQ(each->receive_until(answer("bye")), answer("bye"));
  });
  EXPECT_EQ(topics.subscribers("all"), 0u);
}

TEST_F(WebSocketServerTest, compression_is_agreed_on_where_the_server_wants_it) {
  options.http.websocket.deflate.enabled = true;
  options.http.websocket.deflate.threshold_bytes = 1;
  serve([](std::uint16_t port) {
    Client client(port);
    const std::string head =
        open(client, "/echo", "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    EXPECT_TRUE(head.contains("permessage-deflate; server_no_context_takeover")) << head;
    client.send(frame(std::string("\xf2\x48\xcd\xc9\xc9\x07\x00", 7), '\xc1'));
    const std::string echoed = client.receive_until(std::string("\xcd\xc9\xc9\x07\x00", 5));
    EXPECT_EQ(echoed[0], '\xc1');
  });
}

TEST_F(WebSocketServerTest, a_server_that_stops_says_so_and_waits_for_the_answer) {
  auto service = std::move(router).build();
  HttpServer server(options, *service);
  ASSERT_TRUE(server.start());
  std::thread thread([&] {
    Client client(server.port());
    (void)open(client, "/echo");
    terminate();
    EXPECT_EQ(client.receive_until("stopping."), answer(going_away, '\x88'));
    client.send(frame("\x03\xe9", '\x88'));
    EXPECT_EQ(client.receive_until(""), "");
  });
  const ServerReport report = server.run();
  thread.join();
  EXPECT_EQ(report.cut_off, 0u);
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
