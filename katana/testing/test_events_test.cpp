#include "katana/testing/test_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "katana/http/events/events.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view raw =
    "\xef\xbb\xbf: hello\r\nretry: 1500\rid: 7\nevent: tick\ndata: a\ndata:b\n\nid\ndata\n\n"
    "event: ignored\n\ndata: unfinished";

class TestEventsOver : public ::testing::TestWithParam<TestProtocol> {
 protected:
  // Pieces of `/raw/{cut}` come one after another, cut where a parser may stumble.
  Result<Service> make_events() {
    Router router;
    router.get("/raw/{cut}", [](Path<std::size_t> cut, ReplyWriter reply) -> Task<void> {
      reply.begin(200, "text/event-stream");
      for (std::string_view left = raw; !left.empty();) {
        const std::string_view piece = left.substr(0, *cut);
        co_await reply.write(piece);
        co_await net::sleep_for(milliseconds(10));
        left.remove_prefix(piece.size());
      }
    });
    router.get("/topic", [this](const RequestView& request) { return topic_.subscribe(request); });
    router.get("/text", [] { return Reply::text("no stream"); });
    return std::move(router).build();
  }
  TestOptions options() const {
    TestOptions options;
    options.protocol = GetParam();
    return options;
  }

  EventTopic topic_{{.events_kept_max = 8, .heartbeat = seconds(15), .epoch = 5}};
};
INSTANTIATE_TEST_SUITE_P(Protocols, TestEventsOver,
                         ::testing::Values(TestProtocol::http1, TestProtocol::http2),
                         [](const auto& each) {
                           return each.param == TestProtocol::http1 ? "http1" : "http2";
                         });

TEST_P(TestEventsOver, a_stream_means_the_same_however_it_is_cut) {
  TestServer server(make_events(), options());
  for (std::size_t cut = 1; cut <= raw.size(); cut += cut < 12 ? 1 : 29) {
    TestEvents events = server.events("/raw/" + std::to_string(cut));
    EXPECT_EQ(events.status(), 200u);
    const Result<TestEvent> first = events.next();
    ASSERT_TRUE(first) << first.error().describe();
    EXPECT_EQ(first->id, "7");
    EXPECT_EQ(first->name, "tick");
    EXPECT_EQ(first->data, "a\nb");
    const Result<TestEvent> second = events.next();
    ASSERT_TRUE(second) << second.error().describe();
    EXPECT_EQ(second->id, "");
    EXPECT_EQ(second->name, "message");
    EXPECT_EQ(second->data, "");
    EXPECT_TRUE(events.wait_for_end());
    EXPECT_FALSE(events.next());
    EXPECT_EQ(events.comments(), 1u);
    EXPECT_EQ(events.retry(), milliseconds(1500));
  }
}

TEST_P(TestEventsOver, a_topics_events_and_heartbeats_come_in_virtual_time) {
  TestServer server(make_events(), options());
  TestEvents events = server.events("/topic");
  ASSERT_EQ(events.status(), 200u) << events.describe();
  ASSERT_TRUE(topic_.publish({.data = "3", .name = "tea"}));
  const Result<TestEvent> got = events.next();
  ASSERT_TRUE(got) << got.error().describe();
  EXPECT_EQ(got->name, "tea");
  EXPECT_EQ(got->data, "3");
  EXPECT_EQ(got->id, "5-1");
  const std::size_t before = events.comments();
  server.advance(seconds(61));
  EXPECT_EQ(events.comments(), before + 4);
  EXPECT_FALSE(events.is_over());
}

TEST_P(TestEventsOver, a_reader_that_comes_again_gets_what_it_missed) {
  TestServer server(make_events(), options());
  std::string last;
  {
    TestEvents events = server.events("/topic");
    ASSERT_TRUE(topic_.publish({.data = "1"}));
    ASSERT_TRUE(events.next());
    last = events.last_event_id();
  }
  server.advance(seconds(1));
  EXPECT_EQ(topic_.statistics().subscribers, 0u);
  ASSERT_TRUE(topic_.publish({.data = "2"}));
  TestEvents again = server.events("/topic", {{"Last-Event-ID", last}});
  const Result<TestEvent> missed = again.next();
  ASSERT_TRUE(missed) << missed.error().describe();
  EXPECT_EQ(missed->data, "2");
}

TEST_P(TestEventsOver, a_reply_that_is_no_stream_is_an_error_and_a_reply) {
  TestServer server(make_events(), options());
  TestEvents events = server.events("/text");
  const Result<TestEvent> none = events.next();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().describe(), HasSubstr("GET /text: no stream of events: 200 text/plain"));
  EXPECT_EQ(events.reply().content(), "no stream");
  EXPECT_EQ(server.events("/nowhere").status(), 404u);
}

TEST_P(TestEventsOver, no_event_in_time_is_an_error_that_says_so) {
  TestServer server(make_events(), options());
  TestEvents events = server.events("/topic");
  const Result<TestEvent> none = events.next(seconds(2));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::deadline_exceeded);
  EXPECT_THAT(none.error().describe(), HasSubstr("the stream goes on"));
}

TEST_P(TestEventsOver, a_reader_that_does_not_read_loses_the_oldest) {
  TestServer server(make_events(), options());
  TestEvents events = server.events("/topic");
  events.pause_reading();
  const std::string large(60'000, 'x');
  for (int number = 0; number < 40; ++number) {
    ASSERT_TRUE(topic_.publish({.data = large}));
    server.advance(milliseconds(100));
  }
  events.resume_reading();
  bool was_told = false;
  for (int number = 0; number < 40 && !was_told; ++number) {
    const Result<TestEvent> event = events.next(seconds(5));
    ASSERT_TRUE(event) << event.error().describe();
    was_told = event->name == "lost";
  }
  EXPECT_TRUE(was_told);
}

TEST(TestEvents, end_with_their_server_and_may_still_be_asked) {
  Router router;
  EventTopic topic;
  router.get("/topic", [&](const RequestView& request) { return topic.subscribe(request); });
  std::optional<TestServer> server(std::in_place, std::move(router).build());
  TestEvents events = server->events("/topic");
  server.reset();
  EXPECT_TRUE(events.is_over());
  EXPECT_THAT(events.next().error().describe(), HasSubstr("the test server ended"));
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
