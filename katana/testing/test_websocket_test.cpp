#include "katana/testing/test_websocket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_faults.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

using ::testing::HasSubstr;

Result<Service> make_sockets() {
  Router router;
  router.websocket(
      "/echo",
      {.on_open = {},
       .on_message = [](WebSocket& to, Bytes payload, MessageKind kind) { to.send(payload, kind); },
       .on_writable = {},
       .on_close = {}},
      {.any_origin = false, .origins = {}, .subprotocols = {"echo.v2", "echo.v1"}});
  router.websocket("/closes", {.on_open = {},
                               .on_message = [](WebSocket& to, Bytes,
                                                MessageKind) { to.close(CloseCode::policy, "no"); },
                               .on_writable = {},
                               .on_close = {}});
  router.get("/plain", [] { return Reply::text("not a socket"); });
  return std::move(router).build();
}

class TestWebSocketOver : public ::testing::TestWithParam<TestProtocol> {
 protected:
  TestOptions options() const {
    TestOptions options;
    options.protocol = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Protocols, TestWebSocketOver,
                         ::testing::Values(TestProtocol::http1, TestProtocol::http2),
                         [](const auto& each) {
                           return each.param == TestProtocol::http1 ? "http1" : "http2";
                         });

TEST_P(TestWebSocketOver, text_and_bytes_come_back_in_order) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo");
  ASSERT_TRUE(socket.is_open()) << socket.handshake();
  EXPECT_TRUE(socket.send("hello"));
  EXPECT_TRUE(socket.send_binary(std::string("\0\xff", 2)));
  const Result<TestMessage> text = socket.receive();
  ASSERT_TRUE(text) << text.error().describe();
  EXPECT_EQ(text->content, "hello");
  EXPECT_TRUE(text->is_text);
  const Result<TestMessage> bytes = socket.receive();
  ASSERT_TRUE(bytes) << bytes.error().describe();
  EXPECT_EQ(bytes->content, std::string("\0\xff", 2));
  EXPECT_FALSE(bytes->is_text);
  EXPECT_EQ(socket.waiting(), 0u);
}

TEST_P(TestWebSocketOver, a_message_in_fragments_is_one_message) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo");
  EXPECT_TRUE(socket.send_part("one ", false));
  EXPECT_TRUE(socket.send_part("two ", false));
  EXPECT_EQ(socket.waiting(), 0u);
  EXPECT_TRUE(socket.send_part("three", true));
  EXPECT_EQ(socket.receive()->content, "one two three");
}

TEST_P(TestWebSocketOver, a_large_message_passes_the_windows) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo");
  const std::string large(200'000, 'x');
  EXPECT_TRUE(socket.send(large));
  const Result<TestMessage> got = socket.receive();
  ASSERT_TRUE(got) << got.error().describe();
  EXPECT_EQ(got->content, large);
}

TEST_P(TestWebSocketOver, a_subprotocol_is_agreed_on) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket =
      server.websocket("/echo", {.fields = {}, .subprotocols = {"other", "echo.v1", "echo.v2"}});
  ASSERT_TRUE(socket.is_open()) << socket.handshake();
  EXPECT_EQ(socket.subprotocol(), "echo.v2");
}

TEST_P(TestWebSocketOver, compression_is_agreed_on_where_the_server_offers_it) {
  TestOptions with = options();
  with.http.websocket.deflate.enabled = true;
  TestServer server(make_sockets(), with);
  TestWebSocket socket = server.websocket("/echo", {.compression = true});
  ASSERT_TRUE(socket.is_compressed()) << socket.handshake();
  const std::string large(100'000, 'a');
  EXPECT_TRUE(socket.send(large));
  EXPECT_EQ(socket.receive()->content, large);
  TestServer without(make_sockets(), options());
  EXPECT_FALSE(without.websocket("/echo", {.compression = true}).is_compressed());
}

TEST_P(TestWebSocketOver, the_servers_close_has_its_code_and_reason) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/closes");
  socket.send("go");
  const Result<TestClose> close = socket.wait_for_close();
  ASSERT_TRUE(close) << close.error().describe();
  EXPECT_EQ(close->code, 1008);
  EXPECT_EQ(close->reason, "no");
  EXPECT_FALSE(socket.is_open());
  EXPECT_FALSE(socket.send("more"));
  const Result<TestMessage> none = socket.receive();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().describe(),
              HasSubstr("GET /closes: no message: the server closed with 1008 'no'"));
}

TEST_P(TestWebSocketOver, the_clients_close_is_answered) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo");
  EXPECT_TRUE(socket.close(1000, "done"));
  EXPECT_FALSE(socket.close());
  EXPECT_EQ(socket.wait_for_close()->code, 1000);
}

TEST_P(TestWebSocketOver, pings_go_both_ways_in_virtual_time) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo");
  EXPECT_TRUE(socket.ping("x"));
  EXPECT_TRUE(socket.pongs() == 1 || socket.wait_for_pong());
  server.advance(seconds(300));
  EXPECT_GE(socket.pings(), 5u);
  EXPECT_TRUE(socket.is_open()) << socket.describe();
}

TEST_P(TestWebSocketOver, a_client_that_answers_no_ping_is_disconnected) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo", {.answers_pings = false});
  server.advance(seconds(300));
  EXPECT_FALSE(socket.is_open());
  EXPECT_EQ(socket.wait_for_close()->code, 1006);
}

TEST_P(TestWebSocketOver, a_frame_that_no_client_may_send_closes_with_its_code) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo");
  EXPECT_TRUE(socket.send_frame({.opcode = 1, .payload = "\xff\xfe"}));
  EXPECT_EQ(socket.wait_for_close()->code, 1007);
  TestWebSocket other = server.websocket("/echo");
  EXPECT_TRUE(other.send_frame({.opcode = 1, .payload = "bare", .masked = false}));
  EXPECT_EQ(other.wait_for_close()->code, 1002);
}

TEST_P(TestWebSocketOver, a_path_that_is_no_websocket_gives_its_reply) {
  TestServer server(make_sockets(), options());
  TestWebSocket missing = server.websocket("/nowhere");
  EXPECT_FALSE(missing.is_open());
  EXPECT_FALSE(missing.send("x"));
  EXPECT_FALSE(missing.receive());
  EXPECT_NE(missing.handshake().status(), 101u);
  EXPECT_THAT(missing.receive().error().describe(),
              HasSubstr("GET /nowhere: no message: no WebSocket was opened: "));
  const Result<TestClose> close = missing.wait_for_close();
  ASSERT_FALSE(close);
}

TEST_P(TestWebSocketOver, a_foreign_origin_is_refused_with_403) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket =
      server.websocket("/echo", {.fields = {{"Origin", "https://evil.example"}}});
  EXPECT_EQ(socket.handshake().status(), 403u) << socket.handshake();
}

TEST_P(TestWebSocketOver, no_message_in_time_is_an_error_that_says_so) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo");
  const Result<TestMessage> none = socket.receive(seconds(3));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::deadline_exceeded);
  EXPECT_TRUE(socket.is_open());
}

TEST_P(TestWebSocketOver, a_reset_closes_without_a_close_frame) {
  TestServer server(make_sockets(), options());
  TestWebSocket socket = server.websocket("/echo");
  socket.reset();
  EXPECT_FALSE(socket.is_open());
  const Result<TestClose> close = socket.wait_for_close();
  ASSERT_TRUE(close) << close.error().describe();
  EXPECT_EQ(close->code, 1006);
  EXPECT_THAT(close->problem, HasSubstr("the client reset the connection"));
}

TEST_P(TestWebSocketOver, faults_that_lose_nothing_change_no_message) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    TestOptions with = options();
    with.faults = Faults::any(seed);
    with.seed = seed;
    TestServer server(make_sockets(), with);
    TestWebSocket socket = server.websocket("/echo");
    ASSERT_TRUE(socket.is_open()) << socket.handshake();
    const std::string text(50'000, 'y');
    socket.send(text);
    const Result<TestMessage> got = socket.receive();
    ASSERT_TRUE(got) << got.error().describe();
    EXPECT_EQ(got->content, text);
  }
}

TEST(TestWebSocket, ends_with_its_server_and_may_still_be_asked) {
  std::optional<TestServer> server(std::in_place, make_sockets());
  TestWebSocket socket = server->websocket("/echo");
  server.reset();
  EXPECT_FALSE(socket.is_open());
  EXPECT_FALSE(socket.send("x"));
  EXPECT_THAT(socket.receive().error().describe(), HasSubstr("the test server ended"));
}

TEST(TestWebSocket, of_a_service_that_was_not_built_says_so) {
  TestServer server{Result<Service>(fail(Code::invalid_argument, "two routes"))};
  TestWebSocket socket = server.websocket("/echo");
  EXPECT_FALSE(socket.is_open());
  EXPECT_THAT(socket.handshake().problem(), HasSubstr("the service was not built: "));
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
