// WebSocket on streams of HTTP/2 (RFC 8441) through the whole stack. The tests are of the same
// routes, windows as backpressure, the end, time, and senders elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "katana/http/topics/topics.hpp"
#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/websocket_talk.hpp"

namespace katana::simulation {
namespace {

using Words = std::vector<std::string>;

// The calls of the handlers of a test, and the actions that its test gives them.
struct SocketNotes {
  Words events;
  std::function<void(WebSocket&, Bytes)> at_message;
  std::function<void(WebSocket&)> at_writable;
  std::vector<WebSocket*> sockets;
  int handlers = 0;
};

class NotingHandler final : public WebSocketHandler {
 public:
  explicit NotingHandler(SocketNotes& notes) : notes_(notes) { ++notes_.handlers; }
  ~NotingHandler() override { --notes_.handlers; }
  void on_open(WebSocket& socket) override {
    notes_.events.emplace_back("open");
    notes_.sockets.push_back(&socket);
  }
  void on_message(WebSocket& socket, Bytes payload, MessageKind) override {
    notes_.events.push_back(payload.size() < 40 ? std::string(payload)
                                                : std::to_string(payload.size()) + " bytes");
    if (notes_.at_message) {
      notes_.at_message(socket, payload);
    } else {
      (void)socket.send_text(payload);
    }
  }
  void on_writable(WebSocket& socket) override {
    notes_.events.emplace_back("room");
    if (notes_.at_writable) notes_.at_writable(socket);
  }
  void on_close(WebSocket& socket, CloseCode code, Bytes) override {
    notes_.events.push_back("close " + std::to_string(static_cast<unsigned>(code)));
    std::erase(notes_.sockets, &socket);
    EXPECT_EQ(socket.send_text("late"), SendOutcome::closed);
  }

 private:
  SocketNotes& notes_;
};

class Http2WebSocketTest : public ::testing::Test {
 protected:
  explicit Http2WebSocketTest(const session::HttpOptions& http = {}) {
    WorldOptions options;
    options.http = http;
    options.more_routes = [this](Router& router) { add_routes(router); };
    world_ = std::make_unique<World>(options);
  }

  void add_routes(Router& router) {
    const auto make = [this](const RequestView&) {
      return std::make_unique<NotingHandler>(notes_);
    };
    router.websocket("/ws", make, {.subprotocols = {"two", "one"}});
    Group guarded = router.group("/safe");
    guarded.use({.before = [](const RequestView& request) -> std::optional<Reply> {
      if (request.field("x-token")) return std::nullopt;
      return problem(401, "X-Token is missing.");
    }});
    guarded.websocket("/ws", make);
  }

  World& world() { return *world_; }
  session::Http2Counters& counts() { return world().http2(Site::trial).counters(); }
  session::WebSocketCounters& socket_counts() {
    return world().protocol(Site::trial).counters().websocket;
  }

  // A WebSocket connection on a stream of the client.
  struct Socket {
    std::uint32_t id = 0;
    WebSocketTalk websocket;
  };
  Socket& open(Http2Client& client, const http2::Fields& more = {}) {
    auto& socket = *sockets_.emplace_back(std::make_unique<Socket>());
    socket.id = client.connect("/ws", more);
    socket.websocket.send_bytes = [&client, id = socket.id](Bytes bytes) {
      client.send_data(id, bytes);
    };
    client.on_content = [this](std::uint32_t id, Bytes bytes) {
      for (const auto& each : sockets_) {
        if (each->id == id) each->websocket.feed(bytes);
      }
    };
    world().run_for(milliseconds(20));
    EXPECT_EQ(client.reply(socket.id).status, "200");
    return socket;
  }
  void expect_events(const Words& events) { EXPECT_EQ(std::exchange(notes_.events, {}), events); }

  SocketNotes notes_;
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<Socket>> sockets_;
};

constexpr const char* upgrade_head =
    "GET /safe/ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Token: "
    "t\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

TEST_F(Http2WebSocketTest, the_routes_and_middleware_of_http_1_serve_it) {
  Http2Client client(world());
  const auto refused = client.connect("/safe/ws");
  const auto served = client.connect("/safe/ws", {{"x-token", "t"}});
  engine::SimPeer old(world().network());
  old.connect(world().port(Site::trial));
  old.send(upgrade_head);
  world().run_for(milliseconds(50));
  EXPECT_TRUE(client.knows_connect());
  EXPECT_EQ(client.reply(refused).status, "401");
  EXPECT_EQ(client.reply(served).status, "200");
  EXPECT_TRUE(old.received().starts_with("HTTP/1.1 101 ")) << old.received();
  EXPECT_EQ(socket_counts().opened, 2u);
  expect_events({"open", "open"});
}

TEST_F(Http2WebSocketTest, messages_come_back_in_order_beside_requests) {
  Http2Client client(world());
  Socket& one = open(client);
  Socket& other = open(client);
  Words sent;
  for (int number = 0; number < 50; ++number) {
    sent.push_back("message " + std::to_string(number));
    one.websocket.send(sent.back());
    other.websocket.send(sent.back());
    if (number % 10 == 0) client.get("/text/1000");
  }
  world().run_for(seconds(1));
  EXPECT_EQ(one.websocket.messages(), sent);
  EXPECT_EQ(other.websocket.messages(), sent);
  EXPECT_EQ(client.over(), 5u);
  EXPECT_EQ(one.websocket.error() + other.websocket.error(), "");
}

TEST_F(Http2WebSocketTest, messages_larger_than_every_window_come_back_whole) {
  Http2ClientOptions options;
  options.stream_window = 20'000;
  Http2Client client(world(), options);
  Socket& socket = open(client);
  const std::string large = trial_text(400'000);
  socket.websocket.send(large.substr(0, 150'000), ws::Opcode::text, false);
  socket.websocket.send("p", ws::Opcode::ping);
  socket.websocket.send(large.substr(150'000), ws::Opcode::continuation, true);
  socket.websocket.send("small");
  world().run_for(seconds(5));
  EXPECT_EQ(socket.websocket.messages(), (Words{large, "small"}));
}

TEST_F(Http2WebSocketTest, a_subprotocol_is_agreed_on_in_the_answer) {
  Http2Client client(world());
  notes_.at_message = [](WebSocket& socket, Bytes) {
    (void)socket.send_text(socket.subprotocol());
  };
  Socket& socket = open(client, {{"sec-websocket-protocol", "one, two"}});
  socket.websocket.send("?");
  world().run_for(milliseconds(20));
  EXPECT_EQ(socket.websocket.messages(), Words{"two"});
}

TEST_F(Http2WebSocketTest, what_is_no_handshake_is_answered_and_the_connection_goes_on) {
  Http2Client client(world());
  const auto nowhere = client.connect("/nowhere");
  const auto plain_get = client.get("/ws");
  const auto foreign = client.connect("/ws", {{"origin", "https://other.example"}});
  const auto same = client.connect("/ws", {{"origin", "https://sim.example"}});
  const auto no_socket = client.connect("/text/5");
  const auto fine = client.get("/text/5");
  world().run_for(milliseconds(100));
  EXPECT_EQ(client.reply(nowhere).status, "404");
  EXPECT_EQ(client.reply(plain_get).status, "400");
  EXPECT_EQ(client.reply(foreign).status, "403");
  EXPECT_EQ(client.reply(same).status, "200");
  EXPECT_EQ(client.reply(no_socket).status, "200") << "a request like any other";
  EXPECT_EQ(client.reply(no_socket).content, trial_text(5));
  EXPECT_EQ(client.reply(fine).content, trial_text(5));
  EXPECT_EQ(client.goaway(), -1);
  EXPECT_EQ(socket_counts().opened, 1u);
  EXPECT_EQ(socket_counts().handshakes_refused, 2u);
}

TEST_F(Http2WebSocketTest, a_plain_connect_is_still_refused) {
  Http2Client client(world());
  const auto id = client.plain_connect("other.example:443");
  world().run_for(milliseconds(100));
  EXPECT_GE(client.reply(id).status, "400");
  EXPECT_EQ(socket_counts().opened, 0u);
}

TEST_F(Http2WebSocketTest, a_handler_that_pauses_stops_its_stream_and_no_other) {
  notes_.at_message = [](WebSocket& socket, Bytes) { socket.pause(); };
  Http2Client client(world());
  std::vector<Socket*> paused;
  for (int count = 0; count < 6; ++count) {
    paused.push_back(&open(client));
    for (int number = 0; number < 50; ++number)
      paused.back()->websocket.send(std::string(10'000, 'x'));
  }
  world().run_for(seconds(5));
  EXPECT_EQ(std::ranges::count(notes_.events, "10000 bytes"), 6);
  const http2::Limits limits;
  EXPECT_LE(world().reactor().counters().bytes_received,
            6 * (limits.stream_window_bytes + 10'000u) + 20'000);
  const auto body = std::string(100'000, 'y');
  const auto other = client.post("/collect", body);
  EXPECT_TRUE(world().run_while_not([&] { return client.is_over(other); }, seconds(5)))
      << "six that wait hold more than the window of the connection";
  EXPECT_EQ(client.reply(other).content, trial_digest(body));
  notes_.at_message = {};
  const auto sockets = notes_.sockets;
  for (WebSocket* each : sockets) each->resume();
  world().run_for(seconds(5));
  for (const Socket* each : paused) EXPECT_EQ(each->websocket.messages().size(), 49u);
}

TEST_F(Http2WebSocketTest, a_peer_that_does_not_read_fills_the_queue_and_no_more) {
  Http2ClientOptions options;
  options.opens_windows = false;
  Http2Client client(world(), options);
  Socket& socket = open(client);
  int sent = 0;
  WebSocket& handle = *notes_.sockets.front();
  while (handle.send_text(std::string(1'000, 'x')) == SendOutcome::sent) ++sent;
  const auto most = static_cast<int>(session::WebSocketOptions().queue_bytes_max / 1'000);
  EXPECT_GE(sent, most);
  EXPECT_LE(sent, most + 66);  // and the bytes that the windows took
  world().run_for(seconds(1));
  EXPECT_EQ(socket.websocket.messages().size(), 65u);
  expect_events({"open"});
  client.open_window(1 << 20);
  client.open_window_of(socket.id, 1 << 20);
  world().run_for(seconds(1));
  EXPECT_EQ(socket.websocket.messages().size(), static_cast<std::size_t>(sent));
  expect_events({"room"});
}

TEST_F(Http2WebSocketTest, a_window_that_stays_closed_ends_the_stream_in_time) {
  Http2ClientOptions options;
  options.stream_window = 100;
  options.opens_windows = false;
  Http2Client client(world(), options);
  Socket& socket = open(client);
  socket.websocket.send(std::string(1'000, 'x'));
  world().run_for(seconds(20));
  EXPECT_FALSE(client.is_over(socket.id));
  world().run_for(seconds(20));
  EXPECT_EQ(client.reply(socket.id).reset, 2);
  EXPECT_EQ(counts().streams_stalled, 1u);
  EXPECT_EQ(notes_.handlers, 0);
}

TEST_F(Http2WebSocketTest, the_peer_closes_and_the_stream_ends_from_both_sides) {
  Http2Client client(world());
  Socket& socket = open(client);
  socket.websocket.send("a");
  socket.websocket.close(1000);
  world().run_for(milliseconds(50));
  EXPECT_EQ(socket.websocket.closed(), 1000u);
  EXPECT_TRUE(client.reply(socket.id).ended);
  expect_events({"open", "a", "close 1000"});
  client.send_data(socket.id, {}, true);
  world().run_for(milliseconds(50));
  EXPECT_EQ(notes_.handlers, 0);
  EXPECT_EQ(client.reply(socket.id).reset, -1);
  const auto next = client.get("/text/3");
  EXPECT_TRUE(world().run_while_not([&] { return client.is_over(next); }));
  client.peer().close();
  expect_rest(world());
}

TEST_F(Http2WebSocketTest, the_handler_closes_and_what_still_comes_is_dropped) {
  notes_.at_message = [](WebSocket& socket, Bytes) { socket.close(CloseCode::normal, "enough"); };
  Http2Client client(world());
  Socket& socket = open(client);
  socket.websocket.send("a");
  socket.websocket.send("b");
  world().run_for(milliseconds(50));
  EXPECT_EQ(socket.websocket.closed(), 1000u);
  EXPECT_TRUE(client.reply(socket.id).ended) << "our answer to its close frame was awaited";
  expect_events({"open", "a", "close 1000"});
}

TEST_F(Http2WebSocketTest, a_reset_and_an_end_without_a_close_frame_are_abnormal) {
  Http2Client client(world());
  Socket& gone = open(client);
  Socket& ended = open(client);
  client.send(http2::FrameType::rst_stream, 0, gone.id, http2::number(8));
  client.send_data(ended.id, {}, true);
  world().run_for(milliseconds(50));
  expect_events({"open", "open", "close 1006", "close 1006"});
  EXPECT_TRUE(client.reply(ended.id).ended);
  EXPECT_EQ(notes_.handlers, 0);
}

TEST_F(Http2WebSocketTest, a_peer_that_breaks_a_rule_is_told_and_only_its_stream_ends) {
  Http2Client client(world());
  Socket& bad = open(client);
  Socket& good = open(client);
  bad.websocket.send("\xff\xfe");
  good.websocket.send("fine");
  world().run_for(milliseconds(50));
  EXPECT_EQ(bad.websocket.closed(), 1007u);
  EXPECT_TRUE(client.reply(bad.id).ended);
  EXPECT_EQ(good.websocket.messages(), Words{"fine"});
}

TEST_F(Http2WebSocketTest, a_silent_peer_is_asked_and_then_given_up) {
  Http2Client client(world());
  Socket& answers = open(client);
  const auto mute = client.connect("/ws");
  world().run_for(seconds(45));
  EXPECT_EQ(answers.websocket.pings(), 1u);
  EXPECT_FALSE(client.is_over(mute));
  world().run_for(seconds(10));
  EXPECT_EQ(client.reply(mute).reset, 8) << "CANCEL is what breaks (RFC 8441 §5)";
  EXPECT_FALSE(client.is_over(answers.id));
  EXPECT_EQ(socket_counts().timeouts, 1u);
}

TEST_F(Http2WebSocketTest, a_drain_says_1001_and_goodbye) {
  Http2Client client(world());
  Socket& one = open(client);
  Socket& other = open(client);
  client.on_end = [&](std::uint32_t id) { client.send_data(id, {}, true); };
  world().reactor().request_drain(seconds(10));
  world().run_for(seconds(2));
  EXPECT_EQ(one.websocket.closed(), 1001u);
  EXPECT_EQ(other.websocket.closed(), 1001u);
  EXPECT_EQ(client.goaway(), 0);
  EXPECT_TRUE(client.peer().saw_end());
  EXPECT_EQ(world().reactor().counters().cut_off, 0u);
}

TEST_F(Http2WebSocketTest, topics_and_handles_reach_streams_and_connections_alike) {
  Topics topics;
  notes_.at_message = [&](WebSocket& socket, Bytes topic) { topics.subscribe(socket, topic); };
  Http2Client client(world());
  Socket& socket = open(client);
  engine::SimPeer old(world().network());
  old.connect(world().port(Site::trial));
  old.send(upgrade_head);
  WebSocketTalk websocket;
  websocket.send_bytes = [&](Bytes bytes) { old.send(bytes); };
  world().run_for(milliseconds(50));
  (void)old.take_received();
  socket.websocket.send("news");
  websocket.send("news");
  world().run_for(milliseconds(50));
  const auto published = topics.publish("news", std::string(100'000, 'n'), MessageKind::text);
  EXPECT_EQ(published.subscribers, 2u);
  const WebSocketHandle handle = notes_.sockets.front()->handle();
  EXPECT_EQ(handle.send_text("you"), SendOutcome::sent);
  world().run_for(milliseconds(50));
  websocket.feed(old.take_received());
  EXPECT_EQ(socket.websocket.messages(), (Words{std::string(100'000, 'n'), "you"}));
  EXPECT_EQ(websocket.messages(), Words{std::string(100'000, 'n')});
  client.send(http2::FrameType::rst_stream, 0, socket.id, http2::number(8));
  world().run_for(milliseconds(50));
  EXPECT_EQ(handle.send_text("gone"), SendOutcome::closed);
  EXPECT_EQ(topics.subscribers("news"), 1u);
}

TEST_F(Http2WebSocketTest, a_request_that_ends_its_stream_cannot_become_one) {
  Http2Client client(world());
  const auto id = client.connect_and_end("/ws");
  world().run_for(milliseconds(50));
  EXPECT_EQ(client.reply(id).status, "400");
  EXPECT_EQ(socket_counts().opened, 0u);
}

// ---- content that is held ----------------------------------------------------------------------

class ContentHeldTest : public Http2WebSocketTest {
 protected:
  static constexpr std::size_t held_max = 300'000;
  static session::HttpOptions options() {
    session::HttpOptions options;
    options.http2.content_held_bytes_max = held_max;
    return options;
  }
  ContentHeldTest() : Http2WebSocketTest(options()) {}
};

TEST_F(ContentHeldTest, bodies_that_are_collected_together_are_bounded_and_all_are_answered) {
  Http2Client client(world());
  std::map<std::uint32_t, std::string> bodies;
  for (std::size_t count = 0; count < 40; ++count) {
    std::string body = trial_text(200'000 + count);
    const auto id = client.post("/collect", body);
    bodies.emplace(id, std::move(body));
  }
  // An endless stream keeps its share; the others get on beside it.
  const auto begun = client.begin_post("/collect");
  client.send(http2::FrameType::data, 0, begun, std::string(16'000, 'z'));
  world().run_while_not([&] { return client.over() >= bodies.size(); }, seconds(20));
  for (const auto& [id, body] : bodies) {
    EXPECT_EQ(client.reply(id).content, trial_digest(body)) << id;
  }
  EXPECT_GT(counts().windows_held, 0u);
}

TEST_F(ContentHeldTest, those_who_wait_are_told_to_send_no_more_than_their_windows) {
  Http2Client client(world());
  for (int count = 0; count < 40; ++count) client.post("/collect/5000", std::string(250'000, 'x'));
  world().run_for(seconds(1));
  const http2::Limits limits;
  EXPECT_LE(world().reactor().counters().bytes_received,
            held_max + 250'000 + 40 * (limits.stream_window_bytes + 2'000));
  EXPECT_TRUE(client.wait_for_all());
  EXPECT_EQ(client.over(), 40u);
  client.peer().close();
  expect_rest(world());
}

TEST_F(ContentHeldTest, messages_that_are_not_complete_count_as_well) {
  Http2Client client(world());
  std::vector<Socket*> sockets;
  for (int count = 0; count < 10; ++count) {
    sockets.push_back(&open(client));
    sockets.back()->websocket.send(std::string(200'000, 'x'), ws::Opcode::text, false);
  }
  world().run_for(seconds(5));
  EXPECT_GT(counts().windows_held, 0u);
  const http2::Limits limits;
  EXPECT_LE(world().reactor().counters().bytes_received,
            held_max + 200'000 + 10 * (limits.stream_window_bytes + 10'000));
  for (Socket* each : sockets) each->websocket.send("!", ws::Opcode::continuation, true);
  world().run_for(seconds(20));
  for (const Socket* each : sockets) EXPECT_EQ(each->websocket.messages().size(), 1u);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
