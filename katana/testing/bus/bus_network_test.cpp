#include "katana/testing/bus/bus_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"

namespace katana::testing {
namespace {

using Said = std::vector<std::string>;

std::string note_of(const bus::Notice& notice) {
  std::string text = "!";
  text += bus::name_of(notice.kind);
  if (notice.count != 0) text += ":" + std::to_string(notice.count);
  return text;
}

// A node: a reactor and its bus.
struct TestNode {
  TestNode(engine::SimNetwork& network, BusNetwork& buses, std::string name)
      : bus(buses.make(std::move(name))), reactor(options(), 64, network) {
    EXPECT_TRUE(reactor.start());
  }
  static net::ReactorOptions options() {
    net::ReactorOptions small;
    small.engine.links_max = 16;
    return small;
  }
  bus::Subscription subscribe(Bytes pattern, std::string group = {}) {
    reactor.turn({});
    bus::SubscribeOptions how;
    how.queue_group = std::move(group);
    how.on_notice = [this](const bus::Notice& notice) { said.push_back(note_of(notice)); };
    auto subscribed = bus->subscribe(
        pattern, [this](const bus::Delivery& message) { said.emplace_back(message.payload()); },
        std::move(how));
    EXPECT_TRUE(subscribed);
    return *std::move(subscribed);
  }
  Result<bus::Published> publish(Bytes subject, Bytes payload) {
    reactor.turn({});
    return bus->publish(subject, payload);
  }
  Said taken() { return std::exchange(said, {}); }

  Said said;
  std::unique_ptr<bus::Bus> bus;
  net::ReactorOn<engine::SimEngine> reactor;
};

class BusNetworkTest : public ::testing::Test {
 protected:
  explicit BusNetworkTest(const BusNetworkOptions& options = {}) : buses_(network_, options) {
    for (const char* const name : {"a", "b", "c"}) {
      nodes_.push_back(std::make_unique<TestNode>(network_, buses_, name));
    }
  }
  TestNode& node(std::size_t index) { return *nodes_[index]; }
  void pass(Duration time) {
    const Instant end = network_.now() + time;
    while (true) {
      for (int rounds = 0; rounds < 4; ++rounds) {
        for (const auto& each : nodes_) {
          if (each) each->reactor.turn({});
        }
      }
      if (network_.now() >= end) return;
      Instant next = end;
      for (const auto& each : nodes_) {
        if (each) next = std::min(next, each->reactor.timers().next());
      }
      network_.run_next(std::max(next, network_.now()));
    }
  }

  engine::SimNetwork network_{1, engine::SimFaults::calm()};
  BusNetwork buses_;
  std::vector<std::unique_ptr<TestNode>> nodes_;
};

TEST_F(BusNetworkTest, a_message_reaches_the_other_nodes_after_its_delay) {
  auto a = node(0).subscribe("x.*");
  auto b = node(1).subscribe("x.*");
  EXPECT_TRUE(node(0).publish("x.1", "hello"));
  pass(microseconds(50));
  EXPECT_EQ(node(0).taken(), Said{"hello"});  // its own at once
  EXPECT_EQ(node(1).taken(), Said{});
  pass(milliseconds(1));
  EXPECT_EQ(node(1).taken(), Said{"hello"});
  EXPECT_EQ(node(1).bus->statistics().received, 1u);
}

TEST_F(BusNetworkTest, order_is_that_of_the_publisher) {
  auto b = node(1).subscribe("x");
  Said expected;
  for (int number = 0; number < 200; ++number) {
    EXPECT_TRUE(node(0).publish("x", std::to_string(number)));
    expected.push_back(std::to_string(number));
    if (number % 7 == 0) pass(microseconds(30));
  }
  pass(milliseconds(5));
  EXPECT_EQ(node(1).taken(), expected);
}

TEST_F(BusNetworkTest, what_a_partition_swallows_is_told_when_it_heals) {
  auto b = node(1).subscribe("x");
  EXPECT_TRUE(node(0).publish("x", "1"));
  pass(milliseconds(5));
  buses_.cut("a", "b");
  for (int count = 0; count < 3; ++count) EXPECT_TRUE(node(0).publish("x", "lost"));
  pass(milliseconds(5));
  buses_.heal("a", "b");
  EXPECT_TRUE(node(0).publish("x", "5"));
  pass(milliseconds(5));
  EXPECT_EQ(node(1).taken(), (Said{"1", "!missed:3", "5"}));
  EXPECT_EQ(node(1).bus->statistics().missed, 3u);
}

TEST_F(BusNetworkTest, what_is_lost_at_the_end_is_told_by_the_repeated_number) {
  auto b = node(1).subscribe("x");
  EXPECT_TRUE(node(0).publish("x", "1"));
  pass(milliseconds(5));
  buses_.partition({"a"}, {"b", "c"});
  EXPECT_TRUE(node(0).publish("x", "lost"));
  pass(milliseconds(5));
  buses_.heal_all();
  pass(seconds(20));
  EXPECT_EQ(node(1).taken(), (Said{"1", "!missed:1"}));
}

TEST_F(BusNetworkTest, a_subscriber_that_was_there_first_is_told_of_a_lost_beginning) {
  auto b = node(1).subscribe("x");
  pass(seconds(60));
  auto late = node(2).subscribe("x");
  buses_.cut("a", "b");
  EXPECT_TRUE(node(0).publish("x", "1"));
  EXPECT_TRUE(node(0).publish("x", "2"));
  buses_.heal("a", "b");
  EXPECT_TRUE(node(0).publish("x", "3"));
  pass(seconds(20));
  EXPECT_EQ(node(1).taken(), (Said{"3", "!missed:2"}));
  EXPECT_EQ(node(2).taken(), (Said{"1", "2", "3"}));
}

TEST_F(BusNetworkTest, a_node_without_a_server_knows_it_and_sends_later_what_it_kept) {
  auto a = node(0).subscribe("x");
  auto b = node(1).subscribe("x");
  buses_.isolate("a");
  EXPECT_FALSE(node(0).bus->health().ready);
  EXPECT_TRUE(node(0).publish("x", "kept"));
  EXPECT_EQ(node(0).bus->statistics().kept, 1u);
  EXPECT_TRUE(node(1).publish("x", "missed by a"));
  pass(milliseconds(5));
  EXPECT_EQ(node(0).taken(), (Said{"!disconnected", "kept"}));
  buses_.rejoin("a");
  pass(seconds(20));
  EXPECT_TRUE(node(0).bus->health().ready);
  EXPECT_EQ(node(0).taken(), (Said{"!connected", "!may_have_missed"}));
  EXPECT_EQ(node(1).taken(), (Said{"missed by a", "kept"}));
}

struct RefusingTest : BusNetworkTest {
  RefusingTest() : BusNetworkTest({.away = {.policy = bus::WhenAway::refuse}}) {}
};

TEST_F(RefusingTest, a_node_without_a_server_refuses_if_that_is_wanted) {
  auto a = node(0).subscribe("x");
  buses_.isolate("a");
  const auto published = node(0).publish("x", "here alone");
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code(), Code::unavailable);
  pass(milliseconds(1));
  EXPECT_EQ(node(0).taken().front(), "!disconnected");
}

struct KeepingTest : BusNetworkTest {
  KeepingTest() : BusNetworkTest({.away = {.messages_max = 2}}) {}
};

TEST_F(KeepingTest, what_is_kept_is_bounded_and_the_publisher_is_told) {
  auto b = node(1).subscribe("x");
  buses_.isolate("a");
  EXPECT_TRUE(node(0).publish("x", "1"));
  EXPECT_TRUE(node(0).publish("x", "2"));
  const auto refused = node(0).publish("x", "3");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
  EXPECT_EQ(node(0).bus->statistics().kept_refused, 1u);
  buses_.rejoin("a");
  pass(milliseconds(5));
  EXPECT_EQ(node(1).taken(), (Said{"1", "2"}));
}

TEST_F(BusNetworkTest, a_node_may_die_and_come_again) {
  auto b = std::make_optional(node(1).subscribe("x"));
  EXPECT_TRUE(node(0).publish("x", "under way"));
  b.reset();
  nodes_[1].reset();
  pass(milliseconds(5));
  EXPECT_EQ(buses_.lost(), 1u);
  nodes_[1] = std::make_unique<TestNode>(network_, buses_, "b");
  b = node(1).subscribe("x");
  EXPECT_TRUE(node(0).publish("x", "2"));
  pass(milliseconds(5));
  EXPECT_EQ(node(1).taken(), Said{"2"});
  b.reset();
}

TEST_F(BusNetworkTest, requests_go_between_nodes_and_fail_at_once_when_nobody_answers) {
  node(1).reactor.turn({});
  auto answering = node(1).bus->subscribe("ask", [&](const bus::Delivery& message) {
    EXPECT_TRUE(node(1).bus->publish(message.reply_to(), "yes"));
  });
  node(0).reactor.turn({});
  auto task = node(0).bus->request("ask", "?");
  task.start();
  pass(milliseconds(5));
  ASSERT_TRUE(task.done());
  auto answer = task.result();
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->payload(), "yes");
  node(0).reactor.turn({});
  auto unanswered = node(0).bus->request("nobody", "?");
  unanswered.start();
  EXPECT_TRUE(unanswered.done());
}

TEST_F(BusNetworkTest, a_group_over_several_nodes_has_each_message_once) {
  auto a = node(0).subscribe("jobs", "workers");
  auto b = node(1).subscribe("jobs", "workers");
  auto c = node(2).subscribe("jobs", "workers");
  for (int count = 0; count < 30; ++count) EXPECT_TRUE(node(0).publish("jobs", "x"));
  pass(milliseconds(5));
  EXPECT_EQ(node(0).said.size(), 10u);
  EXPECT_EQ(node(1).said.size(), 10u);
  EXPECT_EQ(node(2).said.size(), 10u);
}

TEST_F(BusNetworkTest, a_stream_is_read_on_every_node_that_has_a_server) {
  node(0).reactor.turn({});
  const bus::StreamOptions rooms{.name = "rooms", .subjects = {"rooms.>"}};
  auto ensured = node(0).bus->streams()->ensure(rooms);
  ensured.start();
  EXPECT_TRUE(ensured.result());
  EXPECT_TRUE(node(0).publish("rooms.lobby", "1"));
  auto stored = node(0).bus->streams()->store("rooms.lobby", "2");
  stored.start();
  EXPECT_EQ(stored.result()->sequence, 2u);
  node(1).reactor.turn({});
  auto last = node(1).bus->streams()->last("rooms", "rooms.lobby", 10);
  last.start();
  const auto messages = last.result();
  ASSERT_TRUE(messages);
  ASSERT_EQ(messages->size(), 2u);
  EXPECT_EQ((*messages)[1].message.payload(), "2");
  const bus::ConsumeOptions from_now{.stream = "rooms", .start = bus::StartAt::next};
  auto made = node(1).bus->streams()->consume(from_now);
  made.start();
  auto consumer = *made.result();
  auto next = consumer->next();
  next.start();
  buses_.isolate("b");
  EXPECT_TRUE(node(2).publish("rooms.lobby", "3"));
  pass(milliseconds(5));
  EXPECT_FALSE(next.done());
  buses_.rejoin("b");
  pass(milliseconds(5));
  ASSERT_TRUE(next.done());
  EXPECT_EQ((**next.result()).message.payload(), "3");
}

// The messages that a consumer returns at once: "payload", with "*" for the first of another
// stream.
std::string next_of(bus::Consumer& consumer) {
  auto next = consumer.next();
  next.start();
  if (!next.done()) return "-";
  const auto message = next.result();
  if (!message) return "end";
  if (!*message) return "!" + (*message).error().describe();
  consumer.acknowledge(**message);
  return ((*message)->is_anew ? "*" : "") + std::string((*message)->message.payload());
}

TEST_F(BusNetworkTest, streams_that_were_lost_are_made_again_and_their_consumers_go_on) {
  node(0).reactor.turn({});
  const bus::StreamOptions rooms{.name = "rooms", .subjects = {"rooms.>"}};
  auto ensured = node(0).bus->streams()->ensure(rooms);
  ensured.start();
  EXPECT_TRUE(ensured.result());
  const bus::ConsumeOptions from_start{.stream = "rooms"};
  auto made = node(0).bus->streams()->consume(from_start);
  made.start();
  auto consumer = *made.result();
  const bus::ConsumeOptions durable{.stream = "rooms", .durable = "d"};
  auto made_durable = node(0).bus->streams()->consume(durable);
  made_durable.start();
  auto second = *made_durable.result();
  EXPECT_TRUE(node(1).publish("rooms.lobby", "1"));
  node(0).reactor.turn({});
  EXPECT_EQ(next_of(*consumer), "1");
  EXPECT_EQ(next_of(*second), "1");
  buses_.lose_streams();
  EXPECT_TRUE(node(1).bus->streams()->submit({.subject = "rooms.lobby", .payload = "2"}));
  node(0).reactor.turn({});
  for (bus::Consumer* const each : {consumer.get(), second.get()}) {
    const std::string gap = next_of(*each);
    EXPECT_NE(gap.find("what came behind sequence 1 is lost"), std::string::npos) << gap;
    EXPECT_EQ(next_of(*each), "*2");
    EXPECT_EQ(next_of(*each), "-");
  }
  EXPECT_TRUE(node(1).publish("rooms.lobby", "3"));
  node(0).reactor.turn({});
  EXPECT_EQ(next_of(*consumer), "3");
}

TEST_F(BusNetworkTest, what_is_submitted_while_a_node_is_away_is_stored_when_it_is_back) {
  node(0).reactor.turn({});
  const bus::StreamOptions rooms{.name = "rooms", .subjects = {"rooms.>"}};
  auto ensured = node(0).bus->streams()->ensure(rooms);
  ensured.start();
  EXPECT_TRUE(ensured.result());
  buses_.isolate("a");
  for (const char* const each : {"1", "2"}) {
    EXPECT_TRUE(node(0).bus->streams()->submit({.subject = "rooms.x", .payload = each}));
  }
  EXPECT_EQ(node(0).bus->statistics().submitted, 2u);
  buses_.rejoin("a");
  EXPECT_EQ(node(0).bus->statistics().submitted, 0u);
  auto kept = node(1).bus->streams()->after("rooms", "rooms.>", 0, 10);
  kept.start();
  const auto messages = kept.result();
  ASSERT_TRUE(messages);
  ASSERT_EQ(messages->size(), 2u);
  EXPECT_EQ((*messages)[0].message.payload(), "1");
}

// Whichever messages the links lose: received and reported ones add up.
TEST_F(BusNetworkTest, losses_add_up) {
  for (const std::uint32_t loss : {10u, 100u, 500u}) {
    buses_.set_loss(loss);
    auto b = node(1).subscribe("x.>");
    pass(seconds(5));
    for (int number = 0; number < 2000; ++number) {
      EXPECT_TRUE(
          node(0).publish("x." + std::to_string(loss) + "." + std::to_string(number % 5), "m"));
      if (number % 50 == 0) pass(milliseconds(20));
    }
    pass(milliseconds(5));
    buses_.set_loss(0);
    pass(seconds(60));
    std::uint64_t sum = 0;
    for (const std::string& each : node(1).taken()) {
      sum += each.starts_with("!missed:") ? std::stoull(each.substr(8)) : 1;
    }
    EXPECT_EQ(sum, 2000u) << loss;
  }
}

TEST(BusNetworkRuns, equal_seeds_give_equal_runs) {
  const auto run = [] {
    engine::SimNetwork network(4, engine::SimFaults::calm());
    BusNetwork buses(network, {.loss_per_1024 = 200});
    TestNode a(network, buses, "a"), b(network, buses, "b");
    auto subscription = b.subscribe("x");
    for (int number = 0; number < 300; ++number) {
      EXPECT_TRUE(a.publish("x", std::to_string(number)));
      network.run_until(network.now() + microseconds(100));
      b.reactor.turn({});
    }
    return b.said;
  };
  const Said first = run();
  EXPECT_EQ(first, run());
  EXPECT_GT(first.size(), 100u);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
