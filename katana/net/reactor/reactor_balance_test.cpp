// Connections that a reactor passes on: the reactor that gets each, and that none is lost or
// counted twice.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/net/reactor/connection_balance.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

class ReactorBalanceTest : public testing::Test {
 protected:
  struct Place {
    World world;
    TestProtocol protocol;
    std::unique_ptr<ReactorOn<FakeEngine>> reactor;
    std::uint32_t closed = 0;  // all links before are, by close_all()
  };

  static ReactorOptions options(std::uint32_t links_max = 1024) {
    ReactorOptions made;
    made.engine.links_max = links_max;
    made.output_blocks_max = 256;
    made.output_blocks_reserve = 16;
    made.carry_large_max = 8;
    return made;
  }
  void make(std::size_t count, const ReactorOptions& with = options()) {
    balance_ = std::make_unique<ConnectionBalance>(count);
    for (std::size_t index = 0; index < count; ++index) {
      Place& place = *places_.emplace_back(std::make_unique<Place>());
      place.reactor =
          std::make_unique<ReactorOn<FakeEngine>>(with, sizeof(TestSession), place.world);
      EXPECT_TRUE(place.reactor->start());
      EXPECT_TRUE(place.reactor->listen({}, place.protocol));
      place.reactor->balance(balance_->share(index));
    }
  }
  ~ReactorBalanceTest() override {
    for (const auto& each : places_) each->reactor.reset();  // before what they share
  }

  // The kernel gives the reactor so many connections, in one turn.
  void accept(std::size_t index, int count = 1) {
    Place& place = *places_[index];
    for (int number = 0; number < count; ++number) {
      place.world.events.push_back([&place] {
        const auto link = static_cast<std::uint32_t>(place.world.links.size());
        place.world.links.emplace_back().open = true;
        const engine::PeerEndpoint peer{
            .address = {192, 0, 2, 1}, .port = 1000, .family = engine::PeerEndpoint::Family::v4};
        if (!place.reactor->on_accepted({link, 1}, 0, peer)) {
          place.world.links[link].open = false;
        }
      });
    }
    place.reactor->turn({});
  }
  void close_all(std::size_t index) {
    Place& place = *places_[index];
    const auto end = static_cast<std::uint32_t>(place.world.links.size());
    for (std::uint32_t link = std::exchange(place.closed, end); link < end; ++link) {
      place.world.events.push_back([&place, link] {
        if (place.world.links[link].open) {
          place.reactor->on_closed({link, 1}, engine::Closed::link);
        }
      });
    }
    place.reactor->turn({});
  }
  void turn_all(Duration later = {}) {
    for (const auto& each : places_) {
      each->world.now = each->world.now + later;
      each->reactor->turn({});
    }
  }
  std::uint32_t open(std::size_t index) { return places_[index]->reactor->links_open(); }
  const Counters& counters(std::size_t index) { return places_[index]->reactor->counters(); }
  std::uint64_t passed_on() {
    std::uint64_t count = 0;
    for (const auto& each : places_) count += each->reactor->counters().passed_on;
    return count;
  }
  bool has_call(std::size_t index, const std::string& call) {
    return std::ranges::find(places_[index]->world.calls, call) !=
           places_[index]->world.calls.end();
  }

  std::unique_ptr<ConnectionBalance> balance_;
  std::vector<std::unique_ptr<Place>> places_;
};

TEST_F(ReactorBalanceTest, a_reactor_with_more_than_another_passes_on_what_it_accepts) {
  make(2);
  accept(0);
  EXPECT_EQ(open(0), 1u) << "nobody has fewer";
  accept(0);
  EXPECT_EQ(open(0), 1u);
  EXPECT_EQ(counters(0).passed_on, 1u);
  EXPECT_TRUE(places_[1]->world.woken);
  turn_all();
  EXPECT_EQ(open(1), 1u);
  EXPECT_EQ(counters(0).accepted, 1u) << "who serves it has accepted it";
  EXPECT_EQ(counters(1).accepted, 1u);
  ASSERT_EQ(places_[1]->protocol.sessions.size(), 1u);
  const Connection& connection = places_[1]->protocol.sessions[0]->connection;
  EXPECT_EQ(connection.peer().text().bytes(), "192.0.2.1:1000");
  EXPECT_EQ(connection.listener(), 0u);
}

TEST_F(ReactorBalanceTest, a_burst_on_one_reactor_is_dealt_evenly_before_the_others_have_moved) {
  make(8);
  accept(0, 128);
  turn_all();
  for (std::size_t index = 0; index < 8; ++index) {
    EXPECT_GE(open(index), 14u);
    EXPECT_LE(open(index), 18u);
  }
}

TEST_F(ReactorBalanceTest, one_hundred_and_twenty_eight_dealt_by_dice_are_even) {
  Random dice(1);
  for (int round = 0; round < 20; ++round) {
    for (const auto& each : places_) each->reactor.reset();
    places_.clear();
    make(8);
    for (int count = 0; count < 128; ++count) {
      accept(dice.below(8));
      turn_all();
    }
    std::uint32_t worst = 0;
    for (std::size_t index = 0; index < 8; ++index) worst = std::max(worst, open(index));
    EXPECT_LE(worst, 18u);
  }
}

TEST_F(ReactorBalanceTest, connections_that_end_soon_stay_where_they_are) {
  make(4, options(4096));
  Random dice(2);
  std::uint64_t accepted = 0;
  std::uint64_t at_first = 0;
  for (int round = 0; round < 600; ++round) {
    if (round == 100) at_first = passed_on();
    for (int count = 0; count < 4; ++count) accept(dice.below(4));
    accepted += 4;
    turn_all(microseconds(100));
    for (std::size_t index = 0; index < 4; ++index) close_all(index);
  }
  EXPECT_LE(passed_on() - at_first, accepted / 100);
}

TEST_F(ReactorBalanceTest, the_end_of_long_connections_says_nothing_of_those_to_come) {
  make(2);
  accept(0, 32);
  turn_all(seconds(5));
  for (std::size_t index = 0; index < 2; ++index) close_all(index);
  const std::uint64_t before = passed_on();
  accept(0, 32);
  turn_all();
  EXPECT_EQ(open(0), 16u);
  EXPECT_EQ(open(1), 16u);
  EXPECT_EQ(passed_on() - before, 16u);
}

TEST_F(ReactorBalanceTest, a_reactor_that_drains_or_has_stopped_is_given_none) {
  make(3);
  places_[1]->reactor->request_drain(seconds(1));
  places_[2]->reactor->request_stop();
  turn_all();
  accept(0, 20);
  EXPECT_EQ(open(0), 20u);
  EXPECT_EQ(passed_on(), 0u);
}

TEST_F(ReactorBalanceTest, a_reactor_in_the_midst_of_a_long_turn_is_given_none) {
  make(2);
  places_[1]->world.events.push_back([this] {
    places_[0]->world.now = places_[0]->world.now + milliseconds(11);
    accept(0, 4);
  });
  places_[1]->reactor->turn({});
  EXPECT_EQ(open(0), 4u);
  accept(0, 4);
  EXPECT_EQ(counters(0).passed_on, 4u) << "it moves again";
}

TEST_F(ReactorBalanceTest, a_drain_waits_for_what_is_on_its_way) {
  make(2);
  accept(0, 2);
  places_[1]->reactor->request_drain(seconds(1));
  places_[1]->world.accepting = false;
  places_[1]->reactor->turn({});
  EXPECT_FALSE(places_[1]->reactor->stopped());
  EXPECT_EQ(open(1), 1u);
  close_all(1);
  EXPECT_TRUE(places_[1]->reactor->stopped());
}

TEST_F(ReactorBalanceTest, what_arrives_when_all_is_over_is_reset) {
  make(2);
  accept(0, 2);
  places_[1]->reactor->request_stop();
  places_[1]->reactor->turn({});
  EXPECT_EQ(counters(1).cut_off, 1u) << "adopted in its last turn, and cut off with the others";
  places_[1]->reactor.reset();
  accept(0, 2);
  EXPECT_EQ(open(0), 3u) << "whoever is gone is not asked";
}

TEST_F(ReactorBalanceTest, what_was_on_its_way_to_a_reactor_that_is_destroyed_is_discarded) {
  make(2);
  accept(0, 2);
  places_[1]->reactor.reset();
  EXPECT_TRUE(has_call(1, "discard 1"));
}

TEST_F(ReactorBalanceTest, a_connection_waits_for_a_link_and_has_the_first_that_is_free) {
  make(2, options(4));
  for (int count = 0; count < 3; ++count) {
    ASSERT_TRUE(places_[1]->reactor->connect({.port = 80}, places_[1]->protocol, nullptr));
  }
  accept(0, 4);
  EXPECT_EQ(counters(0).passed_on, 2u);
  turn_all();
  EXPECT_EQ(open(1), 4u) << "one more waits";
  ASSERT_TRUE(places_[1]->protocol.sessions[0]);
  places_[1]->world.events.push_back(
      [this] { places_[1]->reactor->on_closed({0, 1}, engine::Closed::link); });
  places_[1]->reactor->turn({});
  EXPECT_EQ(open(1), 4u);
  EXPECT_EQ(counters(1).accepted, 2u);
}

TEST_F(ReactorBalanceTest, one_that_cannot_be_adopted_is_counted_and_makes_room) {
  make(2);
  places_[1]->world.adopt_fails = true;
  accept(0, 2);
  turn_all();
  EXPECT_EQ(open(1), 0u);
  EXPECT_EQ(counters(1).accept_failures, 1u);
  places_[1]->world.adopt_fails = false;
  accept(0);
  turn_all();
  EXPECT_EQ(open(1), 1u);
}

TEST_F(ReactorBalanceTest, its_client_is_counted_once_wherever_it_goes) {
  make(2);
  ClientLimits limits({.connections_max = 3}, 1);
  for (const auto& each : places_) each->reactor->guard(0, {.limits = &limits});
  accept(0, 5);
  turn_all();
  EXPECT_EQ(open(0) + open(1), 3u);
  EXPECT_EQ(open(1), 1u);
  close_all(0);
  close_all(1);
  EXPECT_EQ(limits.clients(places_[0]->world.now), 0u) << "all was given back";
  accept(0, 3);
  places_[1]->reactor.reset();
  close_all(0);
  EXPECT_EQ(limits.clients(places_[0]->world.now), 0u) << "and by what was discarded";
}

// For ThreadSanitizer, too: each reactor on its own thread, and the last connections of each
// while others have stopped.
TEST_F(ReactorBalanceTest, reactors_on_threads_of_their_own_lose_nobody) {
  constexpr std::size_t count = 4;
  constexpr int each = 300;
  make(count, options(4096));
  std::atomic<std::size_t> left = count;
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < count; ++index) {
    threads.emplace_back([&, index] {
      // The first accepts all, but for a few.
      const int rounds = index == 0 ? each * 3 : each / 3;
      for (int round = 0; round < rounds; ++round) accept(index);
      --left;
      while (left > 0) places_[index]->reactor->turn({});
      for (int turn = 0; turn < 100; ++turn) places_[index]->reactor->turn({});
      if (index % 2 == 0) places_[index]->reactor->request_stop();
      for (int turn = 0; turn < 10; ++turn) accept(index, 10);
    });
  }
  for (std::thread& thread : threads) thread.join();
  turn_all();
  std::uint64_t accepted = 0;
  for (std::size_t index = 0; index < count; ++index) {
    accepted += counters(index).accepted;
    EXPECT_EQ(counters(index).accepted - counters(index).closed, open(index));
    EXPECT_GT(counters(index).accepted, std::uint64_t{each} / 3 - 1);
    while (!places_[index]->world.calls.empty()) {
      accepted += places_[index]->world.calls.back().starts_with("discard") ? 1 : 0;
      places_[index]->world.calls.pop_back();
    }
  }
  EXPECT_EQ(accepted, std::uint64_t{each} * 3 + each + count * 100);
  EXPECT_GT(passed_on(), 0u);
}

TEST_F(ReactorBalanceTest, a_reactor_alone_passes_nothing_on) {
  make(1);
  accept(0, 20);
  EXPECT_EQ(open(0), 20u);
}

TEST_F(ReactorBalanceTest, no_more_are_under_way_than_there_are_places_for) {
  make(2);
  accept(0, 1000);
  EXPECT_EQ(passed_on(), ConnectionBalance::under_way_max);
  turn_all();
  EXPECT_EQ(open(0) + open(1), 1000u);
  EXPECT_EQ(open(1), ConnectionBalance::under_way_max);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
