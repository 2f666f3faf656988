// StallWatch: its reports for given states at given times.
#include "katana/http/server/stall_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/server/engines.hpp"
#include "katana/http/server/exposition_test.hpp"
#include "katana/http/server/kept_log_test.hpp"

namespace katana::server {
namespace {

using testing::HasSubstr;

class StallWatchTest : public testing::Test {
 protected:
  StallWatchTest() {
    watch = *StallWatch::make(milliseconds(100), kept.logger("watch"), &registry);
    net::ReactorOptions small;
    small.engine.links_max = 1;
    for (auto& reactor : reactors) {
      reactor = make_reactor(EngineKind::epoll_edge, small, 8);
      watch->add(*reactor);
    }
  }
  static Instant at(std::int64_t ms) { return {milliseconds(ms).ns}; }
  std::string metrics() { return exposition_of(registry); }

  KeptLog kept;
  metrics::Registry registry;
  std::unique_ptr<net::Reactor> reactors[2];
  std::unique_ptr<StallWatch> watch;
  const std::string slow = "GET /slow", other = "POST /other";
};

TEST_F(StallWatchTest, a_turn_that_is_short_or_over_is_nothing) {
  watch->look(0, {at(0), &slow}, at(99));
  watch->look(0, {at(100), &slow}, at(150));
  watch->look(0, {never, nullptr}, at(500));
  EXPECT_EQ(watch->stalls(), 0u);
  EXPECT_EQ(kept.text(), "");
}

TEST_F(StallWatchTest, a_stall_is_said_while_it_lasts_and_when_it_is_over_with_its_site) {
  watch->look(1, {at(0), &slow}, at(120));
  EXPECT_THAT(kept.text(), HasSubstr("reactor 1 is stalled: busy for 120 ms with GET /slow"));
  watch->look(1, {at(0), &slow}, at(170));
  watch->look(1, {at(0), nullptr}, at(420));
  EXPECT_EQ(kept.lines().size(), 1u);
  watch->look(1, {never, nullptr}, at(470));
  EXPECT_THAT(kept.text(), HasSubstr("reactor 1 was stalled for 420 ms by GET /slow"));
  EXPECT_EQ(watch->stalls(), 1u);
  EXPECT_THAT(metrics(), HasSubstr("katana_reactor_stalls_total{reactor=\"1\"} 1\n"));
  EXPECT_THAT(metrics(), HasSubstr("katana_reactor_stalls_total{reactor=\"0\"} 0\n"));
  EXPECT_THAT(metrics(), HasSubstr("katana_reactor_stalled_seconds_total{reactor=\"1\"} 0.42\n"));
}

TEST_F(StallWatchTest, each_stall_is_counted_and_each_site_is_logged_once) {
  watch->look(0, {at(0), &slow}, at(100));
  watch->look(0, {at(200), &slow}, at(300));  // the turn before ended in between
  watch->look(1, {at(200), &slow}, at(300));
  EXPECT_EQ(watch->stalls(), 3u);
  EXPECT_EQ(kept.lines().size(), 2u);
  watch->look(0, {at(400), &other}, at(500));
  EXPECT_THAT(kept.text(), HasSubstr("POST /other"));
  watch->look(0, {at(600), nullptr}, at(700));
  EXPECT_THAT(kept.text(), HasSubstr("something outside of a handler"));
  EXPECT_EQ(watch->stalls(), 5u);
}

TEST_F(StallWatchTest, it_looks_at_half_the_threshold_but_not_all_the_time) {
  EXPECT_EQ(watch->interval(), milliseconds(50));
  EXPECT_EQ((*StallWatch::make(nanoseconds(1), {}, nullptr))->interval(), milliseconds(1));
  EXPECT_EQ((*StallWatch::make(seconds(60), {}, nullptr))->interval(), seconds(1));
}

TEST_F(StallWatchTest, who_moves_is_told_with_each_change_and_only_then) {
  std::vector<std::vector<unsigned>> told;
  watch->on_change(
      [&](std::span<const unsigned> moving) { told.emplace_back(moving.begin(), moving.end()); });
  watch->look(0, {at(0), &slow}, at(100));
  watch->look(0, {at(0), &slow}, at(150));
  watch->look(1, {at(0), &slow}, at(150));
  watch->look(0, {never, nullptr}, at(200));
  watch->look(1, {at(200), nullptr}, at(250));
  const std::vector<std::vector<unsigned>> expected{{1}, {}, {0}, {0, 1}};
  EXPECT_EQ(told, expected);
}

TEST_F(StallWatchTest, it_looks_when_a_turn_becomes_a_stall_and_not_while_all_reactors_wait) {
  using Sights = std::vector<StallWatch::Sight>;
  const StallWatch::Sight waits{};
  EXPECT_EQ(watch->next_look(Sights{waits, waits}, at(500)), never);
  EXPECT_EQ(watch->next_look(Sights{waits, {at(430), &slow}}, at(500)), at(530));
  EXPECT_EQ(watch->next_look(Sights{{at(499), &slow}, {at(430), &slow}}, at(500)), at(530));
  watch->look(1, {at(430), &slow}, at(530));
  EXPECT_EQ(watch->next_look(Sights{waits, {at(430), &slow}}, at(530)), at(580));
  // The turn is over: the look that sees it counts the stall, and then nothing is left to follow.
  EXPECT_EQ(watch->next_look(Sights{waits, waits}, at(580)), at(630));
  watch->look(1, waits, at(630));
  EXPECT_EQ(watch->next_look(Sights{waits, waits}, at(630)), never);
}

TEST_F(StallWatchTest, its_thread_starts_and_stops) {
  ASSERT_TRUE(watch->start());
  watch->stop();
  EXPECT_EQ(watch->stalls(), 0u);
}

TEST_F(StallWatchTest, a_long_threshold_does_not_delay_the_end) {
  auto patient = *StallWatch::make(seconds(3600), kept.logger("watch"), nullptr);
  ASSERT_TRUE(reactors[0]->start());
  patient->add(*reactors[0]);
  ASSERT_TRUE(patient->start());
  reactors[0]->turn(Duration{});  // may set the timer
  patient->stop();
}

// A message that keeps its reactor busy until another thread releases it.
struct Blocker : Message {
  Blocker()
      : Message([](Message& message) noexcept {
          auto& self = static_cast<Blocker&>(message);
          self.is_running.set_value();
          self.release.get_future().wait();
        }) {}
  std::promise<void> is_running;
  std::promise<void> release;
};

// The watch sleeps while the reactors wait; it finds a stall that begins then.
TEST_F(StallWatchTest, a_stall_that_follows_a_rest_is_found) {
  watch = *StallWatch::make(milliseconds(5), kept.logger("watch"), nullptr);
  net::Reactor& reactor = *reactors[0];
  ASSERT_TRUE(reactor.start());
  watch->add(reactor);
  ASSERT_TRUE(watch->start());
  for (std::uint64_t round = 1; round <= 3; ++round) {
    Blocker blocker;
    reactor.post(blocker);
    std::thread runner([&] { reactor.turn(seconds(60)); });
    blocker.is_running.get_future().wait();
    while (watch->stalls() < round) std::this_thread::yield();
    blocker.release.set_value();
    runner.join();
  }
  watch->stop();
  EXPECT_EQ(watch->stalls(), 3u);
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
