// Middleware that waits, on the sessions of both protocols. Input that comes meanwhile is kept or
// held back, and the request goes on as if nothing had been in front of its handler.
#include "katana/http/handlers/middleware.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/http/handlers/websocket.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/websocket_talk.hpp"

namespace katana::simulation {
namespace {

struct Caller {
  std::string name;
};

class Greeter final : public WebSocketHandler {
 public:
  explicit Greeter(std::string name) : name_(std::move(name)) {}
  void on_message(WebSocket& socket, Bytes payload, MessageKind) override {
    EXPECT_EQ(socket.send_text(name_ + " " + std::string(payload)), SendOutcome::sent);
  }

 private:
  const std::string name_;
};

class WaitingMiddleware : public testing::Test {
 protected:
  WaitingMiddleware() {
    options_.more_routes = [this](Router& router) { add_routes(router); };
  }

  void add_routes(Router& router) {
    Group group = router.group("/mw");
    group.use([this](Request request) -> Task<Result<Caller>> {
      co_await net::sleep_for(pause_);
      const auto name = request.field("x-name");
      if (!name) co_return fail(Code::permission_denied, "who asks?");
      co_return Caller{std::string(*name)};
    });
    const auto answer = [](Bytes name, Bytes content) {
      return Reply::text(format_text("{} {}", name, content));
    };
    const RouteOptions small{.content_bytes_max = 10'000};
    group.get("/none", [=](FromContext<Caller> of) { return answer(of->name, "-"); });
    group.post("/unread", [=](FromContext<Caller> of) { return answer(of->name, "-"); });
    group.post(
        "/plain",
        [=](FromContext<Caller> of, const RequestView& request) {
          return answer(of->name, request.content());
        },
        small);
    group.post(
        "/later",
        [=](FromContext<Caller> of, Request request) -> Task<Reply> {
          co_await net::sleep_for(milliseconds(5));
          co_return answer(of->name, request.content());
        },
        small);
    group.post("/stream",
               [](FromContext<Caller> of, ContentReader content, ReplyWriter reply) -> Task<void> {
                 reply.begin(200, "text/plain");
                 co_await reply.write(of->name);
                 co_await reply.write(" ");
                 for (Text piece = co_await content.read(); !piece.empty();
                      piece = co_await content.read()) {
                   co_await reply.write(piece.bytes());
                 }
               });
    const auto slow = [](Duration pause) {
      return [pause]() -> Task<Reply> {
        co_await net::sleep_for(pause);
        co_return Reply(200);
      };
    };
    group.get("/brief", slow(milliseconds(200)), {.timeout = milliseconds(250)});
    group.get("/patient", slow(seconds(40)), {.timeout = seconds(60)});
    group.websocket("/socket",
                    [](FromContext<Caller> of) { return std::make_unique<Greeter>(of->name); });
  }

  World& world() {
    if (!world_) world_ = std::make_unique<World>(options_);
    return *world_;
  }

  Duration pause_ = milliseconds(20);
  WorldOptions options_;
  std::unique_ptr<World> world_;
};

constexpr const char* named = "X-Name: ann\r\n";

TEST_F(WaitingMiddleware, serves_contents_of_all_sizes_in_order_on_one_connection) {
  ScriptedClient client(world());
  std::vector<std::string> expected;
  for (const std::size_t size : {0, 1, 3'000, 9'999}) {
    const std::string content = content_of(size);
    for (const char* target : {"/mw/plain", "/mw/later", "/mw/stream", "/mw/unread"}) {
      client.send(post(target, content, "", named));
      expected.push_back("ann " + (target == std::string("/mw/unread") ? "-" : content));
    }
  }
  ASSERT_TRUE(client.wait_for(expected.size())) << client.reader().error();
  for (std::size_t at = 0; at < expected.size(); ++at) {
    EXPECT_EQ(client.replies()[at].status, 200u) << at;
    EXPECT_EQ(client.replies()[at].content, expected[at]) << at;
  }
  client.peer().close();
  expect_rest(world());
}

TEST_F(WaitingMiddleware, asks_for_content_when_it_has_gone_on_and_not_when_it_refuses) {
  for (const bool is_named : {true, false}) {
    ScriptedClient client(world());
    const Planned request = expecting(post("/mw/plain", "hello", "", is_named ? named : ""), true);
    client.expect_reply();
    client.send_bytes(request.head);
    world().run_for(milliseconds(10));
    EXPECT_EQ(client.octets(), 0u) << "100 before the middleware has gone on";
    world().run_for(milliseconds(30));
    if (is_named) {
      EXPECT_GT(client.octets(), 0u);
      client.send_bytes(request.content);
    }
    EXPECT_TRUE(client.wait_for(1));
    EXPECT_EQ(client.status(), is_named ? 200u : 403u);
    client.peer().close();
    expect_rest(world());
  }
}

TEST_F(WaitingMiddleware, content_beyond_the_limit_of_the_route_is_refused) {
  ScriptedClient client(world());
  client.send(post("/mw/plain", content_of(10'001), "", named));
  EXPECT_TRUE(client.wait_for(1));
  EXPECT_EQ(client.status(), 413u);
  client.peer().close();
  Http2Client other(world());
  const auto large = other.post("/mw/plain", content_of(10'001), {{"x-name", "ann"}});
  const auto right = other.post("/mw/plain", "hello", {{"x-name", "ann"}});
  EXPECT_TRUE(other.wait_for_all());
  EXPECT_EQ(other.reply(large).status, "413");
  EXPECT_EQ(other.reply(right).content, "ann hello");
  other.peer().close();
  expect_rest(world());
}

TEST_F(WaitingMiddleware, streams_of_http2_wait_beside_each_other) {
  Http2Client client(world());
  const http2::Fields fields = {{"x-name", "ann"}};
  const std::string content = content_of(9'000);
  const Instant begin = world().now();
  std::vector<std::uint32_t> ids;
  for (int round = 0; round < 5; ++round) {
    for (const char* target : {"/mw/plain", "/mw/later", "/mw/stream"}) {
      ids.push_back(client.post(target, content, fields));
    }
  }
  const auto none = client.get("/mw/none", fields);
  const auto unread = client.post("/mw/unread", content, fields);
  const auto refused = client.post("/mw/plain", content);
  ASSERT_TRUE(client.wait_for_all());
  EXPECT_LT(world().now() - begin, milliseconds(200)) << "one after another";
  for (const auto id : ids) EXPECT_EQ(client.reply(id).content, "ann " + content);
  EXPECT_EQ(client.reply(none).content, "ann -");
  EXPECT_EQ(client.reply(unread).content, "ann -");
  EXPECT_EQ(client.reply(refused).status, "403");
  client.peer().close();
  expect_rest(world());
}

TEST_F(WaitingMiddleware, holds_no_more_of_a_content_than_the_window_of_its_stream) {
  pause_ = seconds(1);
  Http2Client client(world());
  client.post("/mw/stream", content_of(1'000'000), {{"x-name", "ann"}});
  world().run_for(milliseconds(500));
  EXPECT_LE(world().reactor().memory_used().held, 2u * http2::default_window_bytes);
  EXPECT_TRUE(client.wait_for_all());
  EXPECT_EQ(client.reply(1).content.size(), 1'000'004u);
  client.peer().close();
  expect_rest(world());
}

TEST_F(WaitingMiddleware, is_cancelled_when_its_time_is_up_and_when_the_peer_leaves) {
  pause_ = seconds(600);
  options_.http.handler_timeout = seconds(2);
  ScriptedClient client(world());
  client.send(post("/mw/plain", "hello", "", named));
  EXPECT_TRUE(client.wait_for(1));
  EXPECT_EQ(client.status(), 503u);
  EXPECT_EQ(world().http_counters().handler_timeouts, 1u);
  ScriptedClient leaving(world());
  leaving.send(get("/mw/none", ""));
  world().run_for(milliseconds(100));
  leaving.peer().reset();
  Http2Client other(world());
  const auto late = other.get("/mw/none", {{"x-name", "ann"}});
  const auto left = other.get("/mw/none", {{"x-name", "ann"}});
  world().run_for(milliseconds(100));
  other.send(http2::FrameType::rst_stream, 0, left, http2::number(8));
  world().run_for(seconds(3));
  EXPECT_EQ(other.reply(late).status, "503");
  EXPECT_EQ(world().http_counters().handlers_cancelled, 2u);
  other.peer().close();
  client.peer().close();
  expect_rest(world());
}

TEST_F(WaitingMiddleware, a_route_with_a_time_of_its_own_has_that_and_middleware_counts) {
  pause_ = milliseconds(100);
  for (const char* target : {"/mw/brief", "/mw/patient"}) {
    ScriptedClient client(world());
    const Instant begin = world().now();
    Planned asked = get(target, "");
    asked.head.insert(asked.head.size() - 2, named);
    client.send(asked);
    Http2Client other(world());
    const auto stream = other.get(target, {{"x-name", "ann"}});
    EXPECT_TRUE(client.wait_for(1) && other.wait_for_all());
    const bool brief = target == std::string("/mw/brief");
    EXPECT_EQ(client.status(), brief ? 503u : 200u);
    EXPECT_EQ(other.reply(stream).status, brief ? "503" : "200");
    EXPECT_TRUE(happened_at(client.received_at(), begin + milliseconds(brief ? 250 : 40'100)));
    client.peer().close();
    other.peer().close();
    expect_rest(world());
  }
}

TEST_F(WaitingMiddleware, a_handshake_is_completed_when_it_has_gone_on) {
  engine::SimPeer old(world().network());
  old.connect(world().port(Site::trial));
  old.send(
      "GET /mw/socket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "X-Name: ann\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  WebSocketTalk talk;
  talk.send_bytes = [&](Bytes bytes) { old.send(bytes); };
  talk.send("early");  // before the handshake is answered
  Http2Client client(world());
  const auto stream = client.connect("/mw/socket", {{"x-name", "bob"}});
  WebSocketTalk on_stream;
  on_stream.send_bytes = [&](Bytes bytes) { client.send_data(stream, bytes); };
  client.on_content = [&](std::uint32_t, Bytes bytes) { on_stream.feed(bytes); };
  world().run_for(milliseconds(60));
  EXPECT_EQ(client.reply(stream).status, "200");
  on_stream.send("hello");
  world().run_for(milliseconds(60));
  const std::string received(old.received());
  ASSERT_TRUE(received.starts_with("HTTP/1.1 101 ")) << received;
  talk.feed(Bytes(received).substr(received.find("\r\n\r\n") + 4));
  EXPECT_EQ(talk.messages(), std::vector<std::string>{"ann early"});
  EXPECT_EQ(on_stream.messages(), std::vector<std::string>{"bob hello"});
  old.close();
  client.peer().close();
  expect_rest(world());
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
