// Bridges of several servers on one simulated bus, in virtual time. A message here is heard there
// once, or told as missed.
#include "apps/chat/cluster/bridge.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "apps/chat/hub_fixture_test.hpp"
#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/testing/bus/bus_network.hpp"

namespace katana::chat::cluster {
namespace {

using TestReactor = net::ReactorOn<engine::SimEngine>;

class ReactorTurn final : public Turn {
 public:
  void defer(Message& message) noexcept override { reactor->defer(message); }
  void post(Message& message) noexcept override { reactor->post(message); }
  HeldMemory* memory() noexcept override { return &reactor->memory(); }
  net::Reactor* reactor = nullptr;
};

class Noted final : public BridgeObserver {
 public:
  void on_server_came(Bytes name, double missing_s) noexcept override {
    note(missing_s > 0 ? "back " : "came ", name);
  }
  void on_server_went(Bytes name, bool was_told) noexcept override {
    note(was_told ? "stopped " : "lost ", name);
  }
  void on_numbers_moved(std::uint16_t, std::uint16_t) noexcept override { note("moved", ""); }
  void on_slot_twice(Bytes, std::uint16_t) noexcept override { note("twice", ""); }
  void on_missed(Bytes room, std::uint64_t messages, Bytes) noexcept override {
    note("missed " + std::to_string(messages) + " in ", room);
  }
  void on_not_published(std::uint64_t messages, const Error&) noexcept override {
    note("kept back " + std::to_string(messages), "");
  }
  void on_subscription_failed(Bytes subject, const Error&) noexcept override {
    note("no subscription ", subject);
  }
  void on_bus_notice(Bytes what) noexcept override { note("bus ", what); }
  bool has(const std::string& what) const {
    return std::find(all.begin(), all.end(), what) != all.end();
  }
  std::vector<std::string> all;

 private:
  void note(const std::string& what, Bytes name) { all.push_back(what + std::string(name)); }
};

net::ReactorOptions small_reactor() {
  net::ReactorOptions options;
  options.engine.links_max = 16;
  options.output_blocks_max = 64;
  options.output_blocks_reserve = 8;
  options.carry_large_max = 4;
  return options;
}

// A server of one reactor without connections: a hub, its bridge and their members.
class Server {
 public:
  Server(const std::string& name, NodeId id, engine::SimNetwork& network,
         testing::BusNetwork& buses, bool notices)
      : bus(buses.make(name)),
        directory(100, 8, 2),
        history({.messages_max = 3}),
        reactor_(std::make_unique<TestReactor>(small_reactor(), 64, network)) {
    turn.reactor = reactor_.get();
    EXPECT_TRUE(reactor().start());
    HubOptions options;
    options.fit_queue(queue_bytes_min);
    options.notices = notices;
    options.history = &history;
    BridgeOptions bridging;
    bridging.cluster.id = id;
    bridging.cluster.name = name;
    bridging.observer = &noted;
    bridge.emplace(bridging, *bus, directory, options, 1);
    options.names = &*bridge;
    hub.emplace(options, directory, 0, turn);
    bridge->attach(reactor(), {&*hub});
    Hub::connect({&*hub, &bridge->hub()});
    run([this] { EXPECT_TRUE(bridge->start()); });
  }
  ~Server() {
    members.clear();
    hub->stop();
    bridge->end();
  }
  TestReactor& reactor() { return *reactor_; }
  // On its reactor, within a turn.
  void run(std::function<void()> action) {
    struct Act : Message {
      explicit Act(std::function<void()> of)
          : Message([](Message& message) noexcept { static_cast<Act&>(message).action(); }),
            action(std::move(of)) {}
      std::function<void()> action;
    } act(std::move(action));
    reactor().post(act);
    reactor().turn({});
  }
  TestMember& add(Bytes room = lobby_name) {
    TestMember* member = nullptr;
    run([&] {
      member =
          members.emplace_back(std::make_unique<TestMember>(*hub, blocks, directory.admit())).get();
      EXPECT_TRUE(hub->join(*member, room));
      hub->recall(*member);
    });
    return *member;
  }
  void say(TestMember& member, Bytes text) {
    run([&] { hub->publish(member, text); });
  }

  std::unique_ptr<bus::Bus> bus;
  Directory directory;
  chat::History history;
  Noted noted;
  BlockPool blocks{4096, 256};
  ReactorTurn turn;
  std::optional<Bridge> bridge;
  std::optional<Hub> hub;
  std::vector<std::unique_ptr<TestMember>> members;

 private:
  // Destroyed first: it then runs its posted messages.
  std::unique_ptr<TestReactor> reactor_;
};

class BridgeTest : public ::testing::Test {
 protected:
  Server& start(const std::string& name, bool notices = false) {
    servers_.push_back(
        std::make_unique<Server>(name, 100 + servers_.size(), network_, buses_, notices));
    return *servers_.back();
  }
  void kill(Server& server) {
    std::erase_if(servers_, [&](const auto& each) { return each.get() == &server; });
  }
  void pass(Duration time) {
    const Instant end = network_.now() + time;
    while (network_.now() < end) {
      Instant next = end;
      for (const auto& each : servers_) {
        for (int turns = 0; turns < 4; ++turns) each->reactor().turn({});
        next = std::min(next, each->reactor().timers().next());
      }
      (void)network_.run_next(std::max(next, network_.now()));
    }
    for (const auto& each : servers_) each->reactor().turn({});
  }

  engine::SimNetwork network_{1, engine::SimFaults::calm()};
  testing::BusNetwork buses_{network_};
  std::vector<std::unique_ptr<Server>> servers_;
};

TEST_F(BridgeTest, what_is_said_here_is_heard_there_once_and_does_not_come_back) {
  Server &a = start("a"), &b = start("b"), &c = start("c");
  TestMember &ann = a.add(), &here = a.add(), &there = b.add(), &elsewhere = c.add("red");
  pass(seconds(1));
  const std::string said = "[" + std::string(ann.name()) + "] hello\n";
  a.say(ann, "hello");
  pass(milliseconds(50));
  EXPECT_EQ(here.take(), said);
  EXPECT_EQ(there.take(), said);
  EXPECT_EQ(ann.take() + elsewhere.take(), "");
  EXPECT_EQ(a.bridge->counters().published.value(), 1U);
  EXPECT_EQ(a.bridge->counters().received.value(), 0U);
  EXPECT_EQ(b.bridge->counters().received.value(), 1U);
  EXPECT_EQ(c.bridge->counters().received.value(), 0U) << "it has nobody in the room";
  EXPECT_EQ(b.bridge->heard(100, lobby_name).messages(), 1U);
}

TEST_F(BridgeTest, a_turns_messages_are_one_batch_in_their_order) {
  Server &a = start("a"), &b = start("b");
  TestMember &ann = a.add(), &there = b.add();
  pass(seconds(1));
  std::string expected;
  a.run([&] {
    for (const char* each : {"1", "2", "3"}) {
      a.hub->publish(ann, each);
      expected += "[" + std::string(ann.name()) + "] " + each + "\n";
    }
  });
  pass(milliseconds(50));
  EXPECT_EQ(there.take(), expected);
  EXPECT_EQ(a.bridge->counters().published_batches.value(), 1U);
  EXPECT_EQ(b.bridge->counters().received.value(), 3U);
}

TEST_F(BridgeTest, a_room_that_nobody_else_is_in_is_not_published) {
  Server &a = start("a"), &b = start("b");
  TestMember& ann = a.add("red");
  b.add();
  pass(seconds(1));
  a.say(ann, "hello");
  pass(milliseconds(50));
  EXPECT_EQ(a.bridge->counters().published.value(), 0U);
}

TEST_F(BridgeTest, what_the_bus_has_lost_is_counted_and_told_in_the_room) {
  Server &a = start("a"), &b = start("b");
  TestMember &ann = a.add(), &there = b.add();
  pass(seconds(1));
  buses_.cut("a", "b");
  for (int count = 0; count < 3; ++count) a.say(ann, "lost");
  pass(milliseconds(100));
  EXPECT_EQ(there.take(), "");
  buses_.heal("a", "b");
  a.say(ann, "heard");
  pass(seconds(2));
  const std::string heard = there.take();
  EXPECT_NE(heard.find("* 3 messages were lost on the way from another server\n"),
            std::string::npos)
      << heard;
  EXPECT_NE(heard.find("] heard\n"), std::string::npos) << heard;
  EXPECT_TRUE(b.noted.has("missed 3 in lobby"));
  EXPECT_EQ(b.hub->counters().of(Loss::bus).value(), 3U);
}

TEST_F(BridgeTest, a_name_is_one_members_on_all_servers_and_free_when_it_is_given_back) {
  Server &a = start("a"), &b = start("b");
  TestMember &ann = a.add(), &other = b.add();
  pass(seconds(1));
  a.run([&] { EXPECT_EQ(a.hub->rename(ann, "ann"), Naming::pending); });
  pass(seconds(1));
  EXPECT_EQ(ann.name(), "ann");
  b.run([&] { EXPECT_EQ(b.hub->rename(other, "ann"), Naming::pending); });
  pass(seconds(1));
  EXPECT_FALSE(other.has_name());
  EXPECT_FALSE(other.claims_name());
  a.run([&] { EXPECT_EQ(a.hub->rename(ann, "bea"), Naming::pending); });
  pass(seconds(1));
  EXPECT_EQ(ann.name(), "bea");
  b.run([&] { EXPECT_EQ(b.hub->rename(other, "ann"), Naming::pending); });
  pass(seconds(1));
  EXPECT_EQ(other.name(), "ann");
  EXPECT_EQ(a.directory.who(lobby_name, 10)->members, 2U) << "those of all servers";
}

TEST_F(BridgeTest, who_joins_on_a_server_that_is_new_is_told_what_was_said_before) {
  Server &a = start("a"), &b = start("b");
  TestMember &ann = a.add(), &there = b.add();
  pass(seconds(1));
  for (const char* each : {"1", "2", "3", "4"}) a.say(ann, each);
  pass(milliseconds(50));
  (void)there.take();
  Server& c = start("c");
  TestMember& late = c.add();
  pass(seconds(2));
  const std::string from = "[" + std::string(ann.name()) + "] ";
  EXPECT_EQ(late.take(),
            "* The last 3 messages of this room:\n" + from + "2\n" + from + "3\n" + from + "4\n");
  EXPECT_EQ(c.bridge->counters().histories.value(), 1U);
  EXPECT_EQ(there.take(), "");
}

TEST_F(BridgeTest, a_server_that_dies_is_missed_with_its_members_within_the_time_that_is_said) {
  Server &a = start("a"), &b = start("b", true);
  a.add();
  TestMember& there = b.add();
  pass(seconds(1));
  EXPECT_TRUE(b.noted.has("came a"));
  EXPECT_EQ(b.directory.who(lobby_name, 10)->members, 2U);
  (void)there.take();
  buses_.cut("a", "b");  // it says no goodbye
  kill(a);
  pass({ClusterOptions().gone_after_max().ns + milliseconds(100).ns});
  EXPECT_TRUE(b.noted.has("lost a"));
  EXPECT_EQ(b.directory.who(lobby_name, 10)->members, 1U);
  EXPECT_EQ(there.take(), "* 1 member left: their server is gone\n");
}

TEST_F(BridgeTest, what_is_none_of_a_chat_is_counted_and_given_to_nobody) {
  Server &a = start("a"), &b = start("b");
  TestMember& there = a.add();
  b.add();
  pass(seconds(1));
  b.run([&] {
    const std::string stamp = write(BatchStamp{101, 0, 2});
    const bus::Header header{stamp_header, stamp};
    for (const Bytes text : {Bytes("[x] one\n"), Bytes("[x] no end"), Bytes("a\nb\nc\n")}) {
      EXPECT_TRUE(
          b.bus->publish({.subject = "chat.room.lobby", .payload = text, .headers = {&header, 1}}));
    }
    EXPECT_TRUE(b.bus->publish("chat.room.lobby", "[x] no stamp\n"));
    EXPECT_TRUE(b.bus->publish("chat.all", "?"));
  });
  pass(milliseconds(50));
  EXPECT_EQ(there.take(), "");
  EXPECT_EQ(a.bridge->counters().malformed.value(), 5U);
  EXPECT_EQ(a.bridge->counters().received.value(), 0U);
}

TEST_F(BridgeTest, a_server_without_its_bus_is_told_of_and_counts_what_was_missed_when_it_is_back) {
  Server &a = start("a"), &b = start("b");
  TestMember &ann = a.add(), &there = b.add();
  pass(seconds(1));
  buses_.isolate("b");
  a.say(ann, "lost");
  pass(milliseconds(100));
  EXPECT_TRUE(b.noted.has("bus disconnected")) << ::testing::PrintToString(b.noted.all);
  buses_.rejoin("b");
  pass(seconds(2));
  EXPECT_EQ(there.take(), "* 1 message was lost on the way from another server\n");
  a.say(ann, "heard");
  pass(milliseconds(50));
  EXPECT_NE(there.take().find("] heard\n"), std::string::npos);
}

// Reactors claim names and rooms change while the bridge's reactor turns, and while it ends.
TEST_F(BridgeTest, is_told_of_names_and_rooms_by_any_thread_also_when_it_ends) {
  Server& a = start("a");
  pass(milliseconds(100));
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (unsigned index = 0; index < 2; ++index) {
    threads.emplace_back([&a, &ends, index] {
      const std::string name = "n" + std::to_string(index);
      for (std::uint64_t number = 1; !ends.load(); ++number) {
        const auto room = a.directory.join(name, 0, 1'000'000 * (index + 1) + number, name);
        ASSERT_TRUE(room);
        a.bridge->release(name);
        (void)a.directory.leave(*room, 0, 1'000'000 * (index + 1) + number);
        std::this_thread::yield();
      }
    });
  }
  for (int turns = 0; turns < 300; ++turns) a.reactor().turn({});
  a.hub->stop();
  a.bridge->end();
  std::this_thread::yield();
  ends = true;
  for (std::thread& each : threads) each.join();
  a.reactor().turn({});  // messages posted before find nothing to do
  SUCCEED();
}

}  // namespace
}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
