// WebSocket topics and server-sent events of several processes, over a bus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/http/events/events.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/topics/topics.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/stores/bus/memory_bus.hpp"
#include "katana/testing/bus/bus_network.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

// One server has the connections of two processes, each with its own Topics and Bus.
class SharedTopicsTest : public ::testing::Test {
 protected:
  Result<Service> make_service() {
    Router router;
    const auto open = [](Topics& topics) {
      return [&topics](WebSocket& socket) { (void)topics.subscribe(socket, "a room."); };
    };
    router.websocket("/a", {.on_open = open(a_),
                            .on_message =
                                [this](WebSocket&, Bytes payload, MessageKind kind) {
                                  published_ = a_.publish("a room.", payload, kind);
                                },
                            .on_writable = {},
                            .on_close = {}});
    router.websocket("/b",
                     {.on_open = open(b_), .on_message = {}, .on_writable = {}, .on_close = {}});
    return std::move(router).build();
  }
  void settle() {
    for (int rounds = 0; rounds < 3; ++rounds) {
      server_.advance(milliseconds(1));
      network_.run_until(network_.now() + milliseconds(5));
    }
    server_.advance(milliseconds(1));
  }

  engine::SimNetwork network_{1, engine::SimFaults::calm()};
  BusNetwork buses_{network_};
  std::unique_ptr<bus::Bus> bus_a_ = buses_.make("a");
  std::unique_ptr<bus::Bus> bus_b_ = buses_.make("b");
  std::vector<std::string> noticed_;
  Topics a_{{.bus = bus_a_.get()}};
  Topics b_{{.bus = bus_b_.get(), .on_notice = [this](Bytes topic, const bus::Notice& notice) {
               noticed_.push_back(std::string(topic) + ":" + std::to_string(notice.count));
             }}};
  TopicPublished published_;
  TestServer server_{make_service()};
};

TEST_F(SharedTopicsTest, what_is_published_in_one_process_reaches_the_subscribers_of_all) {
  TestWebSocket first = server_.websocket("/a");
  TestWebSocket second = server_.websocket("/b");
  TestWebSocket third = server_.websocket("/b");
  settle();
  EXPECT_TRUE(first.send("hello"));
  EXPECT_TRUE(first.send_binary("octets"));
  settle();
  for (TestWebSocket* const each : {&first, &second, &third}) {
    const auto text = each->receive();
    ASSERT_TRUE(text) << text.error().describe();
    EXPECT_EQ(text->content, "hello");
    EXPECT_TRUE(text->is_text);
    const auto octets = each->receive();
    ASSERT_TRUE(octets);
    EXPECT_EQ(octets->content, "octets");
    EXPECT_FALSE(octets->is_text);
  }
  EXPECT_EQ(published_.subscribers, 1u);  // of this process
  EXPECT_FALSE(published_.bus_problem);
  // Once for the reactor, whatever the number of its subscribers.
  EXPECT_EQ(bus_b_->statistics().received, 2u);
}

TEST_F(SharedTopicsTest, what_is_missed_is_told_and_nothing_comes_without_subscribers) {
  TestWebSocket first = server_.websocket("/a");
  TestWebSocket second = server_.websocket("/b");
  settle();
  EXPECT_TRUE(first.send("1"));
  settle();
  buses_.cut("a", "b");
  EXPECT_TRUE(first.send("lost"));
  settle();
  buses_.heal("a", "b");
  EXPECT_TRUE(first.send("3"));
  settle();
  EXPECT_EQ(second.receive()->content, "1");
  EXPECT_EQ(second.receive()->content, "3");
  EXPECT_THAT(noticed_, ::testing::ElementsAre("a room.:1"));
  second.close();
  settle();
  EXPECT_EQ(bus_b_->statistics().subscriptions, 0u);
}

// Another program on the bus may publish anything to the subject of a topic.
TEST_F(SharedTopicsTest, text_from_the_bus_that_is_not_utf8_reaches_no_subscriber) {
  TestWebSocket subscriber = server_.websocket("/b");
  settle();
  const std::string subject = "topics." + bus::escape_token("a room.");
  ASSERT_TRUE(bus_a_->publish({.subject = subject, .payload = "caf\xc3"}));
  ASSERT_TRUE(bus_a_->publish({.subject = subject, .payload = "coffee"}));
  settle();
  const auto received = subscriber.receive();
  ASSERT_TRUE(received) << received.error().describe();
  EXPECT_EQ(received->content, "coffee");
}

// Two topics of one name on one bus act like those of two processes.
class SharedEventsTest : public ::testing::Test {
 protected:
  static EventTopicOptions options_for(bus::Bus& bus) {
    EventTopicOptions options;
    options.events_kept_max = 4;
    options.bus = &bus;
    options.name = "prices";
    return options;
  }
  Result<Service> make_service() {
    Router router;
    router.get("/begin", [this] {
      EXPECT_TRUE(net::spawn(a_.follow()));
      EXPECT_TRUE(net::spawn(b_.follow()));
      return Reply::no_content();
    });
    router.get("/begin-later", [this] {
      EXPECT_TRUE(net::spawn(later_.follow()));
      return Reply::no_content();
    });
    router.get("/later", [this](const RequestView& request) { return later_.subscribe(request); });
    router.get("/a", [this](const RequestView& request) { return a_.subscribe(request); });
    router.get("/b", [this](const RequestView& request) { return b_.subscribe(request); });
    return std::move(router).build();
  }

  bus::MemoryBus bus_;
  EventTopic a_{options_for(bus_)};
  EventTopic b_{options_for(bus_)};
  EventTopic later_{options_for(bus_)};
  TestServer server_{make_service()};
};

TEST_F(SharedEventsTest, a_reader_goes_on_in_another_process_where_it_was) {
  EXPECT_EQ(server_.get("/begin").status(), 204u);
  server_.advance(milliseconds(20));
  TestEvents reader = server_.events("/a");
  EXPECT_TRUE(a_.publish({.data = "1", .name = "price"}));
  EXPECT_TRUE(b_.publish({.data = "2"}));
  server_.advance(milliseconds(20));
  const auto first = reader.next();
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_EQ(first->data, "1");
  EXPECT_EQ(first->name, "price");
  EXPECT_TRUE(first->id.ends_with("-1")) << first->id;
  EXPECT_TRUE(reader.next()->id.ends_with("-2"));  // one order in all processes
  EXPECT_TRUE(b_.publish({.data = "3"}));
  server_.advance(milliseconds(20));
  TestEvents again = server_.events("/b", {{"Last-Event-ID", first->id}});
  EXPECT_EQ(again.next()->data, "2");
  EXPECT_EQ(again.next()->data, "3");
  // Events that are no longer kept are reported as lost.
  for (int number = 4; number < 10; ++number) EXPECT_TRUE(a_.publish({.data = "x"}));
  server_.advance(milliseconds(100));
  TestEvents late = server_.events("/b", {{"Last-Event-ID", first->id}});
  const auto lost = late.next();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->name, "lost");
  EXPECT_EQ(lost->data, "4");
  EXPECT_EQ(a_.statistics().published, b_.statistics().published);
}

TEST_F(SharedEventsTest, a_process_that_begins_later_has_what_is_kept) {
  for (int number = 1; number <= 3; ++number) {
    EXPECT_TRUE(bus_.publish("events.prices", "before there was a stream"));
  }
  EXPECT_EQ(server_.get("/begin").status(), 204u);
  server_.advance(milliseconds(20));
  for (int number = 1; number <= 6; ++number) {
    EXPECT_TRUE(a_.publish({.data = std::to_string(number)}));
  }
  TestEvents seen = server_.events("/a");
  EXPECT_TRUE(a_.publish({.data = "7"}));
  server_.advance(milliseconds(20));
  const auto seventh = seen.next();
  ASSERT_TRUE(seventh) << seventh.error().describe();
  for (int number = 8; number <= 9; ++number) {
    EXPECT_TRUE(a_.publish({.data = std::to_string(number)}));
  }
  server_.advance(milliseconds(20));
  // Before it has read the stream it does not know the meaning of the id.
  TestEvents early = server_.events("/later", {{"Last-Event-ID", seventh->id}});
  EXPECT_EQ(server_.get("/begin-later").status(), 204u);
  server_.advance(milliseconds(20));
  EXPECT_EQ(later_.kept_from(1).size(), 4u);
  EXPECT_EQ(early.next()->data, "8");
  EXPECT_EQ(early.next()->data, "9");
  TestEvents reader = server_.events("/later", {{"Last-Event-ID", seventh->id}});
  EXPECT_EQ(reader.next()->data, "8");
  EXPECT_EQ(reader.next()->data, "9");
}

// Two processes whose servers lose their state or become unreachable.
class LostEventsTest : public ::testing::Test {
 protected:
  static EventTopicOptions options_for(bus::Bus& bus) {
    EventTopicOptions options;
    options.events_kept_max = 8;
    options.bus = &bus;
    options.name = "prices";
    options.heartbeat = seconds(15);
    return options;
  }
  LostEventsTest() {
    EXPECT_EQ(server_.get("/begin").status(), 204u);
    settle();
  }
  Result<Service> make_service() {
    Router router;
    router.get("/begin", [this] {
      EXPECT_TRUE(net::spawn(a_.follow()));
      EXPECT_TRUE(net::spawn(b_.follow()));
      return Reply::no_content();
    });
    router.get("/a", [this](const RequestView& request) { return a_.subscribe(request); });
    router.get("/b", [this](const RequestView& request) { return b_.subscribe(request); });
    router.get("/b/ann", [this](const RequestView& request) {
      return b_.subscribe(request, std::vector<std::string>{"ann"});
    });
    return std::move(router).build();
  }
  void settle() {
    for (int rounds = 0; rounds < 3; ++rounds) {
      server_.advance(milliseconds(200));
      network_.run_until(network_.now() + milliseconds(200));
    }
    server_.advance(milliseconds(1));
  }
  void publish(EventTopic& topic, Bytes data, Bytes key = {}) {
    EXPECT_TRUE(topic.publish({.data = data, .key = key}));
    settle();
  }
  // "data", and for an event with a name "name:data".
  static std::string told(TestEvents& reader) {
    const auto event = reader.next();
    if (!event) return event.error().describe();
    return event->name == "message" || event->name.empty() ? event->data
                                                           : event->name + ":" + event->data;
  }

  engine::SimNetwork network_{1, engine::SimFaults::calm()};
  BusNetwork buses_{network_};
  std::unique_ptr<bus::Bus> bus_a_ = buses_.make("a");
  std::unique_ptr<bus::Bus> bus_b_ = buses_.make("b");
  EventTopic a_{options_for(*bus_a_)};
  EventTopic b_{options_for(*bus_b_)};
  TestServer server_{make_service()};
};

TEST_F(LostEventsTest, readers_are_told_of_a_lost_stream_and_go_on_with_the_next_one) {
  TestEvents at_a = server_.events("/a"), at_b = server_.events("/b");
  publish(a_, "1");
  publish(b_, "2");
  EXPECT_EQ(told(at_a), "1");
  const auto second = at_a.next();
  ASSERT_TRUE(second);
  for (const char* const each : {"1", "2"}) EXPECT_EQ(told(at_b), each);
  buses_.lose_streams();
  settle();
  EXPECT_EQ(told(at_a), "lost:") << "at once";
  publish(b_, "3");
  EXPECT_EQ(told(at_a), "3");
  EXPECT_EQ(told(at_b), "lost:");
  EXPECT_EQ(told(at_b), "3");
  // In any process, the sequence number of its id now belongs to another event.
  publish(b_, "4");
  for (const char* const path : {"/a", "/b"}) {
    TestEvents again = server_.events(path, {{"Last-Event-ID", second->id}});
    EXPECT_EQ(told(again), "lost:") << path;
    EXPECT_EQ(told(again), "3") << path;
    EXPECT_EQ(told(again), "4") << path;
  }
  EXPECT_EQ(a_.statistics().gaps, 2u);
}

TEST_F(LostEventsTest, what_is_published_while_a_process_is_away_is_told_when_it_is_back) {
  TestEvents at_a = server_.events("/a"), at_b = server_.events("/b");
  buses_.isolate("a");
  publish(a_, "kept");
  publish(b_, "other");
  EXPECT_EQ(told(at_b), "other");
  buses_.rejoin("a");
  settle();
  EXPECT_EQ(told(at_b), "kept");
  EXPECT_EQ(told(at_a), "other");
  EXPECT_EQ(told(at_a), "kept");
}

TEST_F(LostEventsTest,
       a_stream_that_is_lost_while_a_process_is_away_is_recognised_when_it_is_back) {
  TestEvents at_a = server_.events("/a");
  publish(b_, "1");
  EXPECT_EQ(told(at_a), "1");
  buses_.isolate("a");
  buses_.lose_streams();
  settle();
  for (const char* const each : {"2", "3", "4"}) publish(b_, each);  // it comes past the position
  buses_.rejoin("a");
  settle();
  for (const char* const each : {"lost:", "2", "3", "4"}) EXPECT_EQ(told(at_a), each);
}

TEST_F(LostEventsTest, a_reader_of_a_key_goes_on_in_another_process_and_behind_events_of_others) {
  TestEvents ann = server_.events("/b/ann");
  publish(a_, "1", "ann");
  for (int count = 0; count < 5; ++count) publish(a_, "secret", "bob");
  const auto first = ann.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->data, "1");
  publish(a_, "2", "ann");
  publish(a_, "3");
  EXPECT_EQ(told(ann), "2");
  EXPECT_EQ(told(ann), "3");
  for (int count = 0; count < 5; ++count) publish(a_, "secret", "bob");
  TestEvents again = server_.events("/b/ann", {{"Last-Event-ID", first->id}});
  EXPECT_EQ(told(again), "2") << "one of its own was kept, and nothing of its own lost";
  EXPECT_EQ(told(again), "3");
  for (int count = 0; count < 9; ++count) publish(a_, "secret", "bob");
  TestEvents late = server_.events("/b/ann", {{"Last-Event-ID", first->id}});
  EXPECT_EQ(told(late), "lost:2");
}

TEST_F(LostEventsTest, a_drain_while_the_stream_is_away_ends_readers_in_order) {
  TestEvents at_a = server_.events("/a");
  publish(a_, "1");
  buses_.isolate("a");
  publish(a_, "never stored");
  server_.reactor().request_drain(seconds(10));
  settle();
  EXPECT_EQ(told(at_a), "1");
  EXPECT_TRUE(at_a.is_over());
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
