// Requests and replies in pieces, clients that leave, and faults, by both protocols.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/json.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_faults.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

using ::testing::HasSubstr;

class StreamsOver : public ::testing::TestWithParam<TestProtocol> {
 protected:
  Result<Service> make_streams() {
    Router router;
    router.post("/echo", [](ContentReader content, ReplyWriter reply) -> Task<void> {
      reply.begin(200, "application/octet-stream");
      for (;;) {
        const Text piece = co_await content.read();
        if (piece.empty()) co_return;
        co_await reply.write(piece.bytes());
      }
    });
    router.post("/whole", [](const RequestView& request) {
      return Reply::text(Text(std::to_string(request.content().size())));
    });
    router.get("/steps", [](ReplyWriter reply) -> Task<void> {
      reply.begin(200, "text/plain");
      for (int step = 0; step < 3; ++step) {
        co_await reply.write("step ");
        co_await net::sleep_for(seconds(5));
      }
    });
    router.get("/endless", [this](ReplyWriter reply) -> Task<void> {
      struct Leaves {
        int& count;
        ~Leaves() { ++count; }
      } leaves{left_};
      reply.begin(200, "text/plain");
      const std::string piece(10'000, 'x');
      for (;;) {
        co_await reply.write(piece);
        written_ += piece.size();
      }
    });
    router.get("/slow", [this]() -> Task<Reply> {
      struct Leaves {
        int& count;
        ~Leaves() { ++count; }
      } leaves{left_};
      co_await net::sleep_for(milliseconds(500));
      co_return Reply::text("late");
    });
    router.get("/large", [] { return Reply::text(Text(std::string(100'000, 'x'))); });
    return std::move(router).build();
  }
  TestOptions options() const {
    TestOptions options;
    options.protocol = GetParam();
    return options;
  }

  std::size_t written_ = 0;
  int left_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Protocols, StreamsOver,
                         ::testing::Values(TestProtocol::http1, TestProtocol::http2),
                         [](const auto& each) {
                           return each.param == TestProtocol::http1 ? "http1" : "http2";
                         });

TEST_P(StreamsOver, content_in_pieces_is_answered_while_it_is_sent) {
  TestServer server(make_streams(), options());
  PendingReply upload = server.begin_pieces("POST", "/echo");
  EXPECT_TRUE(upload.send_some("one "));
  EXPECT_EQ(upload.status(), 200u);
  EXPECT_EQ(upload.header("content-type"), "application/octet-stream");
  EXPECT_EQ(upload.content_so_far(), "one ");
  EXPECT_TRUE(upload.send_some("two"));
  EXPECT_EQ(upload.take_content(), "one two");
  EXPECT_FALSE(upload.is_done());
  EXPECT_TRUE(upload.finish());
  EXPECT_FALSE(upload.finish());
  EXPECT_FALSE(upload.send_some("more"));
  const TestReply reply = upload.reply();
  EXPECT_EQ(reply.status(), 200u) << reply;
  EXPECT_EQ(reply.content(), "");
}

TEST_P(StreamsOver, an_upload_beyond_every_window_arrives) {
  TestServer server(make_streams(), options());
  PendingReply upload = server.begin_pieces("POST", "/echo");
  const std::string piece(100'000, 'p');
  for (int number = 0; number < 5; ++number) EXPECT_TRUE(upload.send_some(piece));
  upload.finish();
  EXPECT_EQ(upload.reply().content().size(), 500'000u) << upload.reply();
}

TEST_P(StreamsOver, a_length_that_is_given_is_kept) {
  TestServer server(make_streams(), options());
  PendingReply upload = server.begin_pieces("POST", "/whole", {{"Content-Length", "6"}});
  upload.send_some("abc");
  EXPECT_EQ(upload.status(), 0u);
  upload.send_some("def");
  upload.finish();
  EXPECT_EQ(upload.reply().content(), "6") << upload.reply();
}

TEST_P(StreamsOver, a_client_that_expects_100_is_told_to_continue) {
  TestServer server(make_streams(), options());
  PendingReply upload = server.begin_pieces("POST", "/whole", {{"Expect", "100-continue"}});
  ASSERT_TRUE(!upload.interim_replies().empty() || upload.wait_for_interim_reply());
  EXPECT_EQ(upload.interim_replies().front().status(), 100u);
  upload.send_some("x");
  upload.finish();
  EXPECT_EQ(upload.reply().content(), "1");
}

TEST_P(StreamsOver, a_reply_is_seen_while_its_handler_runs) {
  TestServer server(make_streams(), options());
  PendingReply steps = server.begin_get("/steps");
  ASSERT_TRUE(steps.wait_for_head());
  EXPECT_EQ(steps.status(), 200u);
  ASSERT_TRUE(steps.wait_for_content(5));
  EXPECT_EQ(steps.content_so_far(), "step ");
  server.advance(milliseconds(5'010));
  EXPECT_EQ(steps.content_so_far(), "step step ");
  EXPECT_FALSE(steps.wait_for_content(1000));
  EXPECT_EQ(steps.reply().content(), "step step step ");
  EXPECT_EQ(steps.content_so_far(), "step step step ");
}

TEST_P(StreamsOver, a_client_that_does_not_read_slows_its_handler) {
  TestServer server(make_streams(), options());
  PendingReply endless = server.begin_get("/endless");
  ASSERT_TRUE(endless.wait_for_content(1000));
  endless.pause_reading();
  server.advance(milliseconds(100));
  const std::size_t before = written_;
  server.advance(milliseconds(500));
  EXPECT_EQ(written_, before);
  const std::size_t seen = endless.content_so_far().size();
  endless.resume_reading();
  EXPECT_TRUE(endless.wait_for_content(seen + 1'000'000));
  EXPECT_GT(written_, before);
  endless.reset();
  EXPECT_EQ(left_, 1);
}

TEST_P(StreamsOver, a_reset_cancels_the_handler) {
  TestServer server(make_streams(), options());
  PendingReply slow = server.begin_get("/slow");
  slow.reset();
  EXPECT_TRUE(slow.is_done());
  EXPECT_EQ(left_, 1);
  EXPECT_THAT(slow.reply().problem(), HasSubstr("GET /slow: the client reset the connection"));
  slow.reset();
  EXPECT_EQ(server.get("/large").status(), 200u);
}

TEST_P(StreamsOver, a_reset_in_the_middle_of_an_upload_ends_it) {
  TestServer server(make_streams(), options());
  PendingReply upload = server.begin_pieces("POST", "/whole");
  upload.send_some("half of it");
  upload.reset();
  EXPECT_FALSE(upload.send_some("x"));
  EXPECT_EQ(upload.reply().status(), 0u);
}

TEST_P(StreamsOver, many_requests_at_once_are_all_answered) {
  TestServer server(make_streams(), options());
  std::vector<PendingReply> all;
  for (int number = 0; number < 150; ++number) all.push_back(server.begin_get("/slow"));
  for (PendingReply& each : all) EXPECT_EQ(each.reply().content(), "late") << each.reply();
  if (GetParam() == TestProtocol::http2) {
    EXPECT_EQ(server.connections(), 1u);
  }
}

TEST_P(StreamsOver, a_client_may_reset_after_so_many_bytes) {
  TestOptions with = options();
  with.reset_after_bytes = 5'000;
  TestServer server(make_streams(), with);
  const TestReply reply = server.get("/large");
  EXPECT_EQ(reply.status(), 0u);
  EXPECT_THAT(reply.problem(), HasSubstr("the client reset the connection after 5000 bytes"));
  server.advance(seconds(1));
  EXPECT_EQ(server.connections(), 0u);
}

TEST_P(StreamsOver, faults_have_names) {
  const std::pair<const char*, Faults> mixes[] = {
      {"fragments", Faults().fragments(3)},
      {"short writes", Faults().short_writes()},
      {"all", Faults().fragments().short_writes().slow_network(milliseconds(20))},
      {"any", Faults::any(9)}};
  for (const auto& [name, faults] : mixes) {
    TestOptions with = options();
    with.faults = faults;
    TestServer server(make_streams(), with);
    const TestReply reply = server.get("/large");
    EXPECT_EQ(reply.content().size(), 100'000u) << name << ": " << reply;
  }
}

TEST_P(StreamsOver, a_slow_network_takes_its_time) {
  TestOptions with = options();
  with.faults = Faults().slow_network(std::uint64_t{50'000}, milliseconds(50));
  TestServer server(make_streams(), with);
  const Instant before = server.now();
  const TestReply reply = server.get("/large");
  EXPECT_EQ(reply.status(), 200u) << reply;
  const Duration took = server.now() - before;
  EXPECT_GT(took, seconds(1));
  EXPECT_LT(took, seconds(6));
}

TEST_P(StreamsOver, a_cut_connection_is_reported_with_its_seed) {
  TestOptions with = options();
  with.faults = Faults().cut(milliseconds(100));
  with.seed = 11;
  TestServer server(make_streams(), with);
  const TestReply reply = server.get("/slow");
  EXPECT_EQ(reply.status(), 0u);
  EXPECT_THAT(reply.problem(), HasSubstr("(seed 11)"));
  EXPECT_EQ(left_, 1);
}

TEST_P(StreamsOver, a_half_closed_client_still_gets_its_reply) {
  TestServer server(make_streams(), options());
  PendingReply slow = server.begin_get("/slow");
  slow.half_close();
  EXPECT_EQ(slow.reply().content(), "late") << slow.reply();
  EXPECT_EQ(server.get("/slow").content(), "late");
}

TEST(Streams, wrong_use_does_nothing) {
  Router router;
  router.get("/a", [] { return Reply::text("a"); });
  std::optional<TestServer> server(std::in_place, std::move(router).build());
  PendingReply done = server->begin_get("/a");
  EXPECT_FALSE(done.send_some("x"));
  EXPECT_FALSE(done.finish());
  done.reset();
  done.half_close();
  EXPECT_EQ(done.reply().content(), "a");
  server.reset();
  done.pause_reading();
  done.resume_reading();
  EXPECT_TRUE(done.wait_for_head());
  EXPECT_FALSE(done.wait_for_content(2));
  EXPECT_EQ(done.content_so_far(), "a");
}

TEST(Streams, a_field_that_http2_cannot_carry_is_a_sentence) {
  Router router;
  router.get("/a", [] { return Reply::text("a"); });
  TestOptions options;
  options.protocol = TestProtocol::http2;
  TestServer server(std::move(router).build(), options);
  EXPECT_THAT(server.get("/a", {{"bad name", "x"}}).problem(),
              HasSubstr("field 'bad name' cannot be sent over HTTP/2"));
  EXPECT_THAT(server.get("no path").problem(), HasSubstr("cannot be sent over HTTP/2"));
  EXPECT_EQ(server.get("/a").content(), "a");
}

TEST(Streams, a_server_without_http2_is_a_sentence) {
  Router router;
  router.get("/a", [] { return Reply::text("a"); });
  TestOptions options;
  options.protocol = TestProtocol::http2;
  options.http.http2.enabled = false;
  TestServer server(std::move(router).build(), options);
  EXPECT_EQ(server.get("/a").status(), 0u);
  EXPECT_THAT(server.get("/a").problem(), HasSubstr("GET /a: "));
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
