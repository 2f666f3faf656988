// WebSocket topics and server-sent events of several processes, over a bus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/bus/memory_bus.hpp"
#include "katana/core/spawn.hpp"
#include "katana/service/events/events.hpp"
#include "katana/service/router.hpp"
#include "katana/session/topics.hpp"
#include "katana/testing/bus/bus_network.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

using session::Topics;

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
  session::Published published_;
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
  EXPECT_EQ(bus_b_->figures().received, 2u);
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
  EXPECT_EQ(bus_b_->figures().subscriptions, 0u);
}

// Two topics of one name on one bus are those of two processes.
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
      EXPECT_TRUE(core::spawn(a_.follow()));
      EXPECT_TRUE(core::spawn(b_.follow()));
      return Reply::no_content();
    });
    router.get("/begin-later", [this] {
      EXPECT_TRUE(core::spawn(later_.follow()));
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
  EXPECT_EQ(first->id, "1-1");
  EXPECT_EQ(reader.next()->id, "1-2");  // one order in all processes
  EXPECT_TRUE(b_.publish({.data = "3"}));
  server_.advance(milliseconds(20));
  TestEvents again = server_.events("/b", {{"Last-Event-ID", "1-1"}});
  EXPECT_EQ(again.next()->data, "2");
  EXPECT_EQ(again.next()->data, "3");
  // What is not kept any more is told as lost.
  for (int number = 4; number < 10; ++number) EXPECT_TRUE(a_.publish({.data = "x"}));
  server_.advance(milliseconds(20));
  TestEvents late = server_.events("/b", {{"Last-Event-ID", "1-1"}});
  const auto lost = late.next();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->name, "lost");
  EXPECT_EQ(lost->data, "4");
  EXPECT_EQ(a_.figures().published, b_.figures().published);
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
  server_.advance(milliseconds(20));
  EXPECT_EQ(server_.get("/begin-later").status(), 204u);
  server_.advance(milliseconds(20));
  EXPECT_EQ(later_.kept_from(1).size(), 4u);
  TestEvents reader = server_.events("/later", {{"Last-Event-ID", "1-4"}});
  EXPECT_EQ(reader.next()->data, "5");
  EXPECT_EQ(reader.next()->data, "6");
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
