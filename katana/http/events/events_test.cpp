// Tests of a topic between its publishers and its readers, in virtual time. More are in
// tests/simulation/events_test.cpp; those of a bus in testing/bus/shared_topics_test.cpp.
#include "katana/http/events/events.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/stores/bus/memory_bus.hpp"
#include "katana/testing/test_events.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using testing::TestEvents;
using testing::TestServer;

EventTopicOptions small_topic() {
  EventTopicOptions options;
  options.epoch = 0xa;
  options.heartbeat = seconds(15);
  return options;
}

Result<Service> service_of(EventTopic& topic) {
  Router router;
  router.get("/all", [&](const RequestView& request) { return topic.subscribe(request); });
  router.get("/ann", [&](const RequestView& request) {
    return topic.subscribe(request, std::vector<std::string>{"ann"});
  });
  router.get("/follow", [&] {
    EXPECT_TRUE(net::spawn(topic.follow()));
    return Reply::no_content();
  });
  return std::move(router).build();
}

class EventsTest : public ::testing::Test {
 protected:
  void publish(Bytes data, Bytes key = {}) {
    EXPECT_TRUE(topic_.publish({.data = data, .key = key}));
    server_.advance(milliseconds(20));
  }
  static std::string next(TestEvents& reader) {
    const auto event = reader.next();
    return event ? event->data : event.error().describe();
  }

  EventTopic topic_{small_topic()};
  TestServer server_{service_of(topic_)};
};

TEST_F(EventsTest, publish_returns_the_number_that_the_event_is_kept_under) {
  EXPECT_EQ(*topic_.publish({.data = "one"}), 1u);
  EXPECT_EQ(*topic_.publish({.data = "two"}), 2u);
  const auto kept = topic_.kept_from(2);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(*kept[0], "id: a-2\ndata: two\n\n");
  EXPECT_EQ(topic_.kept_from(0).size(), 2u);
  EXPECT_EQ(topic_.kept_from(3).size(), 0u);
}

TEST_F(EventsTest, readers_that_leave_in_any_order_take_nothing_from_the_others) {
  std::vector<TestEvents> readers;
  for (int count = 0; count < 5; ++count) readers.push_back(server_.events("/all"));
  publish("1");
  for (TestEvents& each : readers) EXPECT_EQ(next(each), "1");
  for (const int leaving : {2, 1, 4}) {
    readers[static_cast<std::size_t>(leaving)].reset();
    server_.advance(milliseconds(20));
  }
  EXPECT_EQ(topic_.statistics().subscribers, 2u);
  publish("2");
  for (const std::size_t left : {0u, 3u}) {
    EXPECT_EQ(next(readers[left]), "2");
    readers[left].reset();
  }
  server_.advance(milliseconds(20));
  EXPECT_EQ(topic_.statistics().subscribers, 0u);
  publish("nobody hears it");
  TestEvents late = server_.events("/all");
  publish("3");
  EXPECT_EQ(next(late), "3");
}

TEST_F(EventsTest, a_heartbeat_carries_the_id_of_events_of_other_keys_once) {
  TestEvents ann = server_.events("/ann");
  publish("hers", "ann");
  EXPECT_EQ(next(ann), "hers");
  EXPECT_EQ(ann.last_event_id(), "a-1");
  publish("his", "bob");
  const std::size_t before = ann.comments();
  server_.advance(seconds(16));
  EXPECT_EQ(ann.comments(), before + 1);
  EXPECT_EQ(ann.last_event_id(), "a-2") << "she need not be sent through it again";
  EXPECT_EQ(ann.waiting(), 0u) << "an id is no event";
  publish("hers", "ann");
  EXPECT_EQ(next(ann), "hers");
  server_.advance(seconds(16));
  EXPECT_EQ(ann.last_event_id(), "a-3");
}

TEST(SilentEventsTest, a_reader_that_does_not_read_is_sent_no_heartbeats_on_top) {
  EventTopicOptions options = small_topic();
  options.heartbeat = milliseconds(100);
  EventTopic topic(options);
  TestServer server(service_of(topic));
  TestEvents reader = server.events("/all");
  server.advance(milliseconds(20));
  const std::size_t before = reader.comments();
  reader.pause_reading();
  const std::string large(60'000, 'x');
  for (int count = 0; count < 12; ++count) EXPECT_TRUE(topic.publish({.data = large}));
  server.advance(seconds(2));
  reader.resume_reading();
  for (int count = 0; count < 12; ++count) {
    const auto event = reader.next();
    ASSERT_TRUE(event) << event.error().describe();
    EXPECT_EQ(event->data.size(), large.size());
  }
  EXPECT_LE(reader.comments(), before + 1);
  server.advance(seconds(1));
  EXPECT_GE(reader.comments(), before + 9) << "it is silent again";
}

// ---- misuse

TEST(EventsDeathTest, a_topic_that_could_keep_or_tell_nothing_is_a_defect_that_is_named) {
  EventTopicOptions none = small_topic(), silent = small_topic();
  none.events_kept_max = 0;
  silent.heartbeat = {};
  const char* const why = "keeps no event, or has no heartbeat.*give events_kept_max";
  EXPECT_DEATH(EventTopic{none}, why);
  EXPECT_DEATH(EventTopic{silent}, why);
}

TEST(EventsDeathTest, a_topic_on_a_bus_has_a_name_of_one_token) {
  bus::MemoryBus bus;
  for (const char* const name : {"", "a.b", "a b", "*", ">"}) {
    EventTopicOptions options = small_topic();
    options.bus = &bus;
    options.name = name;
    EXPECT_DEATH(EventTopic{options}, "without a name, or with one of other.*give .*name letters");
  }
}

TEST(EventsDeathTest, a_topic_that_goes_before_its_readers_is_a_defect_that_is_named) {
  const auto misuse = [] {
    auto topic = std::make_unique<EventTopic>(small_topic());
    TestServer server(service_of(*topic));
    const TestEvents first = server.events("/all"), second = server.events("/all");
    topic.reset();
  };
  EXPECT_DEATH(misuse(), "destroyed while 2 readers are subscribed.*destroy it after the server");
}

TEST(EventsDeathTest, a_topic_without_a_bus_has_nothing_to_follow) {
  const auto misuse = [] {
    EventTopic topic(small_topic());
    TestServer server(service_of(topic));
    (void)server.get("/follow");
  };
  EXPECT_DEATH(misuse(), "of a topic without a bus.*give EventTopicOptions::bus");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
