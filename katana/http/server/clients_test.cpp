// A server behind proxies that speak the PROXY protocol, and its limits by client, on every engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* named_line = "PROXY TCP4 198.51.100.7 203.0.113.1 5000 443\r\n";

class ClientsTest : public testing::Test {
 protected:
  ClientsTest() {
    options.port = 0;
    options.reactors = 1;
    options.reactor.engine.links_max = 64;
    router.get("/client", [](const RequestView& request) {
      const session::Client client = request.client();
      return Reply::text(format_text("{} {}", client.text().bytes(), client.origin()));
    });
  }

  std::unique_ptr<HttpServer> started() {
    if (!service_) {
      auto built = std::move(router).build();
      EXPECT_TRUE(built);
      service_.emplace(std::move(*built));
    }
    auto server = std::make_unique<HttpServer>(options, *service_);
    const auto listening = server->start();
    EXPECT_TRUE(listening) << (listening ? "" : listening.error().describe());
    return server;
  }
  std::string refusal() {
    HttpServer server(options, *std::move(router).build());
    const auto listening = server.start();
    return listening ? "it has started" : listening.error().describe();
  }
  static std::string reply_to(std::uint16_t port, const std::string& before,
                              const std::string& fields = "") {
    Client client(port);
    client.send(before + "GET /client HTTP/1.1\r\nHost: shop.example\r\n" + fields +
                "Connection: close\r\n\r\n");
    return client.receive_until("");
  }

  HttpServerOptions options;
  Router router;

 private:
  std::optional<Service> service_;
};

TEST_F(ClientsTest, a_trusted_proxy_names_the_client_on_every_engine) {
  options.proxy_protocol = ProxyProtocol::required;
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  options.http.forwarded = http::ForwardedFields::forwarded;
  options.listeners = {{}};
  for (const EngineKind kind : engines()) {
    if (!choose_engine(engine_name(kind))) continue;  // forbidden here
    options.engine = kind;
    const auto server = started();
    serve_clients(*server, [&](std::uint16_t port) {
      EXPECT_THAT(reply_to(port, named_line), EndsWith("198.51.100.7:5000 http://shop.example"));
      EXPECT_THAT(reply_to(port, "PROXY UNKNOWN\r\n"), HasSubstr("127.0.0.1:"));
      EXPECT_EQ(reply_to(port, ""), "") << "a header is required";
      EXPECT_THAT(reply_to(port, named_line, "Forwarded: for=9.9.9.9\r\n"),
                  HasSubstr("198.51.100.7:5000"))
          << "whom the proxy names is no proxy";
      EXPECT_THAT(reply_to(server->port_of_listener(0), ""), HasSubstr("127.0.0.1:"))
          << "another listener knows nothing of it";
      EXPECT_THAT(reply_to(server->port_of_listener(0), named_line), StartsWith("HTTP/1.1 4"))
          << "and takes no header";
    });
  }
}

TEST_F(ClientsTest, nobody_else_is_let_speak_for_others) {
  options.proxy_protocol = ProxyProtocol::required;
  options.http.trusted_proxies = {*Network::parse("10.0.0.0/8")};
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t port) {
    EXPECT_EQ(reply_to(port, named_line), "");
    EXPECT_EQ(reply_to(port, ""), "");
  });
}

TEST_F(ClientsTest, a_client_has_no_more_connections_than_it_may) {
  options.clients.connections_max = 2;
  for (const EngineKind kind : engines()) {
    if (!choose_engine(engine_name(kind))) continue;  // forbidden here
    options.engine = kind;
    options.reactors = 2;
    const auto server = started();
    serve_clients(*server, [&](std::uint16_t port) {
      {
        Client first(port), second(port);
        EXPECT_THAT(first.ask("/client"), HasSubstr("200 OK"));
        EXPECT_THAT(second.ask("/client"), HasSubstr("200 OK"));
        EXPECT_EQ(reply_to(port, ""), "") << "whichever reactor it comes to";
        EXPECT_EQ(reply_to(port, ""), "");
      }
      // They are closed when the server has read their ends.
      std::string reply;
      for (int count = 0; count < 1000 && reply.empty(); ++count) reply = reply_to(port, "");
      EXPECT_THAT(reply, HasSubstr("200 OK"));
    });
  }
}

TEST_F(ClientsTest, networks_that_may_not_connect_do_not) {
  options.clients.deny = {*Network::parse("127.0.0.0/8")};
  options.operations = ListenerAddress{};
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t port) {
    EXPECT_EQ(reply_to(port, ""), "");
    EXPECT_THAT(reply_to(server->operations_port(), ""), StartsWith("HTTP/1.1 "))
        << "whoever runs the server gets in";
  });
}

TEST_F(ClientsTest, trusted_proxies_are_not_limited) {
  options.clients.connections_max = 1;
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t port) {
    Client first(port), second(port), third(port);
    for (Client* const each : {&first, &second, &third}) {
      EXPECT_THAT(each->ask("/client"), HasSubstr("200 OK"));
    }
  });
}

TEST_F(ClientsTest, requests_of_a_proxy_count_for_the_clients_that_it_names) {
  router.get("/wait", []() -> Task<Reply> {
    co_await net::sleep_for(seconds(30));
    co_return Reply::text("late");
  });
  options.clients.requests_max = 1;
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  options.http.forwarded = http::ForwardedFields::x_forwarded;
  const std::string ann = "X-Forwarded-For: 198.51.100.7\r\n";
  const std::string forged = "X-Forwarded-For: 9.9.9.9, 198.51.100.7\r\n";
  const std::string bob = "X-Forwarded-For: 198.51.100.8\r\n";
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t port) {
    Client waiting(port);
    waiting.send("GET /wait HTTP/1.1\r\nHost: shop.example\r\n" + ann + "\r\n");
    std::string reply;
    for (int count = 0; count < 1000 && !reply.starts_with("HTTP/1.1 429"); ++count) {
      reply = reply_to(port, "", ann);
    }
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 429"));
    EXPECT_THAT(reply_to(port, "", forged), StartsWith("HTTP/1.1 429"));
    EXPECT_THAT(reply_to(port, "", bob), HasSubstr("198.51.100.8"));
    EXPECT_THAT(reply_to(port, ""), HasSubstr("200 OK")) << "the proxy's own";
  });
}

TEST_F(ClientsTest, limits_hold_for_whom_a_proxy_names) {
  options.proxy_protocol = ProxyProtocol::required;
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  options.clients.connections_max = 1;
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t port) {
    Client first(port);
    first.send(named_line);
    EXPECT_THAT(first.ask("/client"), HasSubstr("198.51.100.7"));
    EXPECT_EQ(reply_to(port, named_line), "");
    EXPECT_THAT(reply_to(port, "PROXY TCP4 198.51.100.8 203.0.113.1 1 443\r\n"),
                HasSubstr("198.51.100.8"));
  });
}

TEST_F(ClientsTest, without_a_trusted_proxy_the_header_cannot_be_required) {
  options.proxy_protocol = ProxyProtocol::required;
  options.listeners = {{.proxy_protocol = ProxyProtocol::required}};
  options.clients.v4_bits = 0;
  const std::string mistakes = refusal();
  EXPECT_THAT(mistakes, HasSubstr("http.proxy_protocol is required, and no proxy is trusted: give "
                                  "http.trusted_proxies"));
  EXPECT_THAT(mistakes, HasSubstr("http.listeners[0].proxy_protocol"));
  EXPECT_THAT(mistakes, HasSubstr("clients.v4_bits"));
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
