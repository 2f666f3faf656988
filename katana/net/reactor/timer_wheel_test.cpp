#include "katana/net/reactor/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace katana::net {
namespace {

constexpr Duration hours(std::int64_t count) { return seconds(count * 3600); }
constexpr Duration days(std::int64_t count) { return hours(count * 24); }
constexpr Duration years(std::int64_t count) { return days(count * 365); }

struct Timer : TimerEntry {
  Timer()
      : TimerEntry([](TimerEntry& entry) noexcept {
          auto& self = static_cast<Timer&>(entry);
          ++self.fired;
          if (self.action) self.action();
        }) {}
  int fired = 0;
  std::function<void()> action;
};

class TimerWheelTest : public testing::Test {
 protected:
  Instant start{seconds(5'000).ns + 123'456};
  TimerWheel wheel{start};
};

TEST_F(TimerWheelTest, an_empty_wheel_has_nothing_to_do_ever) {
  EXPECT_EQ(wheel.next(), never);
  wheel.advance(start + years(10));
  EXPECT_EQ(wheel.next(), never);
}

TEST_F(TimerWheelTest, fires_at_its_time_once_and_not_before) {
  Timer timer;
  wheel.arm(timer, start + milliseconds(10));
  EXPECT_TRUE(timer.armed());
  wheel.advance(start + milliseconds(9));
  EXPECT_EQ(timer.fired, 0);
  wheel.advance(start + milliseconds(11));
  EXPECT_EQ(timer.fired, 1);
  EXPECT_FALSE(timer.armed());
  wheel.advance(start + seconds(1));
  EXPECT_EQ(timer.fired, 1);
}

TEST_F(TimerWheelTest, a_time_in_the_past_fires_within_a_tick) {
  Timer timer;
  wheel.arm(timer, start + seconds(-100));
  wheel.advance(start);
  EXPECT_EQ(timer.fired, 0);
  wheel.advance(start + TimerWheel::tick);
  EXPECT_EQ(timer.fired, 1);
}

TEST_F(TimerWheelTest, a_short_pause_ends_within_a_tick_and_never_early) {
  static_assert(TimerWheel::tick <= microseconds(100));
  for (std::int64_t us = 1; us < 64'000; us += 97) {
    TimerWheel own(start);
    Timer timer;
    const Instant due = start + microseconds(us);
    own.arm(timer, due);
    EXPECT_GE(timer.expiry(), due);
    EXPECT_LT(timer.expiry(), due + TimerWheel::tick) << us;
    own.advance(due + nanoseconds(-1));
    EXPECT_EQ(timer.fired, 0) << us;
    // A caller that sleeps until next() fires it then, after one move to the near slots at most.
    while (timer.fired == 0) own.advance(own.next());
    EXPECT_EQ(own.next(), never);
    EXPECT_LE(own.operations(), 2u) << us;
  }
}

TEST_F(TimerWheelTest, distant_deadlines_within_a_millisecond_share_one_wake_up) {
  std::vector<std::unique_ptr<Timer>> timers;
  const Instant whole{(start + seconds(30)).ns / 1'000'000 * 1'000'000};
  for (int us = 1; us <= 1'000; us += 100) {
    timers.push_back(std::make_unique<Timer>());
    wheel.arm(*timers.back(), whole + microseconds(us));
    EXPECT_EQ(timers.back()->expiry(), whole + milliseconds(1));
  }
  int wakes = 0;
  for (Instant next = wheel.next(); next != never; next = wheel.next(), ++wakes) {
    wheel.advance(next);
  }
  EXPECT_EQ(wakes, 1);
  for (const auto& timer : timers) EXPECT_EQ(timer->fired, 1);
}

TEST_F(TimerWheelTest, the_present_is_where_time_has_got_to_though_nothing_was_due_on_the_way) {
  Timer timer;
  const Instant now = start + seconds(10);
  wheel.advance(now);
  wheel.arm(timer, start);
  EXPECT_GT(timer.expiry(), now);
  EXPECT_GT(wheel.next(), now);
  wheel.advance(now);
  EXPECT_EQ(timer.fired, 0);
  wheel.advance(now + milliseconds(1));
  EXPECT_EQ(timer.fired, 1);
}

TEST_F(TimerWheelTest, a_timer_can_be_moved_both_ways) {
  Timer timer;
  wheel.arm(timer, start + seconds(10));
  wheel.arm(timer, start + seconds(1));
  wheel.advance(start + seconds(2));
  EXPECT_EQ(timer.fired, 1);
  wheel.arm(timer, start + seconds(5));
  wheel.arm(timer, start + seconds(50));
  wheel.advance(start + seconds(6));
  EXPECT_EQ(timer.fired, 1);
  wheel.advance(start + seconds(51));
  EXPECT_EQ(timer.fired, 2);
}

TEST_F(TimerWheelTest, a_cancelled_timer_does_not_fire_and_leaves_the_wheel_empty) {
  Timer timer;
  wheel.arm(timer, start + seconds(10));
  timer.cancel();
  EXPECT_FALSE(timer.armed());
  EXPECT_EQ(wheel.next(), never);
  wheel.advance(start + seconds(11));
  EXPECT_EQ(timer.fired, 0);
}

TEST_F(TimerWheelTest, a_destroyed_timer_leaves_the_others_in_its_slot) {
  Timer before, after;
  {
    Timer between;
    wheel.arm(before, start + seconds(10));
    wheel.arm(between, start + seconds(10));
    wheel.arm(after, start + seconds(10));
  }
  wheel.advance(start + seconds(11));
  EXPECT_EQ(before.fired + after.fired, 2);
}

TEST_F(TimerWheelTest, a_wheel_that_was_idle_for_long_knows_what_is_next_to_the_millisecond) {
  const Instant now = start + hours(30);
  wheel.advance(now);
  Timer timer;
  wheel.arm(timer, now + milliseconds(10));
  EXPECT_EQ(wheel.next(), timer.expiry()) << "the time since has passed for it, too";
  wheel.advance(now + milliseconds(11));
  EXPECT_EQ(timer.fired, 1);
  EXPECT_EQ(wheel.operations(), 1u) << "it did not move down level by level";
}

TEST_F(TimerWheelTest, what_is_next_is_never_in_the_past) {
  std::mt19937_64 random(7);
  std::vector<std::unique_ptr<Timer>> timers;
  Instant now = start;
  for (int round = 0; round < 3'000; ++round) {
    const auto distance = static_cast<std::int64_t>(random() % (std::uint64_t{1} << random() % 40));
    timers.push_back(std::make_unique<Timer>());
    timers.back()->action = [&] {
      EXPECT_GE(wheel.next(), Instant{now.ns / TimerWheel::tick.ns * TimerWheel::tick.ns});
    };
    wheel.arm(*timers.back(), now + nanoseconds(distance * 1'000));
    if (random() % 3 == 0) timers.erase(timers.begin());
    const Instant next = wheel.next();
    now = random() % 2 == 0 && next != never ? std::max(now, next) : now + TimerWheel::tick;
    wheel.advance(now);
    EXPECT_GE(wheel.next(), Instant{now.ns / TimerWheel::tick.ns * TimerWheel::tick.ns});
  }
}

TEST_F(TimerWheelTest, a_distant_timer_wakes_nobody_before_its_time) {
  for (const Duration distance : {milliseconds(100), seconds(7), hours(3), days(400)}) {
    TimerWheel own(start);
    std::array<Timer, 5> timers;
    for (std::size_t index = 0; index < timers.size(); ++index) {
      own.arm(timers[index], start + distance + seconds(static_cast<std::int64_t>(index)));
    }
    EXPECT_EQ(own.next(), timers[0].expiry());
    timers[0].cancel();  // the slot's last
    own.advance(start + distance);
    EXPECT_EQ(own.next(), timers[1].expiry()) << distance.count_ms();
  }
}

TEST_F(TimerWheelTest, an_earlier_timer_is_next_though_it_takes_the_place_of_a_later_one) {
  Timer first, second;
  wheel.arm(first, start + hours(9));
  wheel.arm(second, start + hours(9));
  EXPECT_EQ(wheel.next(), second.expiry());
  wheel.arm(second, start + hours(9) + seconds(-2));  // the same slot, and its head again
  EXPECT_EQ(wheel.next(), second.expiry());
  EXPECT_LT(second.expiry(), first.expiry());
}

TEST_F(TimerWheelTest, firing_may_arm_the_timer_again) {
  Timer timer;
  Instant due = start + milliseconds(7);
  timer.action = [&] {
    due = due + milliseconds(7);
    wheel.arm(timer, due);
  };
  wheel.arm(timer, due);
  for (int step = 1; step <= 700; ++step) wheel.advance(start + milliseconds(step));
  EXPECT_GE(timer.fired, 99);
  EXPECT_LE(timer.fired, 100);
}

TEST_F(TimerWheelTest, a_timer_armed_again_for_now_does_not_fire_twice_in_one_advance) {
  Timer timer;
  timer.action = [&] { wheel.arm(timer, start); };
  wheel.arm(timer, start);
  wheel.advance(start + milliseconds(1));
  EXPECT_EQ(timer.fired, 1);
  EXPECT_TRUE(timer.armed());
}

TEST_F(TimerWheelTest, a_timer_that_repeats_fires_once_after_a_long_turn) {
  Timer timer;
  Instant due = start;
  timer.action = [&] { wheel.arm(timer, due = due + milliseconds(1)); };
  wheel.arm(timer, due);
  wheel.advance(start + seconds(1));
  EXPECT_EQ(timer.fired, 1);
  EXPECT_GT(wheel.next(), start + seconds(1));
}

TEST_F(TimerWheelTest, firing_may_cancel_or_destroy_a_timer_that_is_due_at_the_same_time) {
  // Both orders, because which of the two fires first does not matter.
  for (int round = 0; round < 2; ++round) {
    TimerWheel own(start);
    Timer cancelled;
    auto destroyed = std::make_unique<Timer>();
    Timer actor;
    actor.action = [&] {
      cancelled.cancel();
      destroyed.reset();
    };
    if (round == 0) own.arm(actor, start + seconds(1));
    own.arm(cancelled, start + seconds(1));
    own.arm(*destroyed, start + seconds(1));
    if (round == 1) own.arm(actor, start + seconds(1));
    own.advance(start + seconds(2));
    EXPECT_EQ(actor.fired, 1);
    EXPECT_FALSE(cancelled.armed());
    EXPECT_EQ(own.next(), never);
  }
}

TEST_F(TimerWheelTest, a_timer_may_destroy_itself) {
  auto timer = std::make_unique<Timer>();
  timer->action = [&] { timer.reset(); };
  wheel.arm(*timer, start + seconds(1));
  wheel.advance(start + seconds(2));
  EXPECT_EQ(timer, nullptr);
}

TEST_F(TimerWheelTest, deadlines_of_every_distance_fire_at_their_time) {
  for (const Duration distance :
       {milliseconds(1), milliseconds(63), milliseconds(64), milliseconds(65), seconds(4),
        seconds(263), hours(5), days(13), days(800), years(100), years(200)}) {
    TimerWheel own(start);
    Timer timer;
    own.arm(timer, start + distance);
    own.advance(start + distance + milliseconds(-2));
    EXPECT_EQ(timer.fired, 0) << distance.count_ms();
    own.advance(start + distance + milliseconds(1));
    EXPECT_EQ(timer.fired, 1) << distance.count_ms();
  }
}

TEST_F(TimerWheelTest, a_deadline_of_never_does_not_fire_in_a_lifetime) {
  Timer timer;
  wheel.arm(timer, never);
  wheel.advance(start + years(200));
  EXPECT_EQ(timer.fired, 0);
  EXPECT_TRUE(timer.armed());
}

TEST_F(TimerWheelTest, time_that_jumps_by_years_fires_everything_that_is_due_once) {
  std::vector<std::unique_ptr<Timer>> timers;
  for (int index = 0; index < 500; ++index) {
    timers.push_back(std::make_unique<Timer>());
    wheel.arm(*timers.back(), start + hours(index * 17));
  }
  wheel.advance(start + years(30));
  for (const auto& timer : timers) EXPECT_EQ(timer->fired, 1);
  EXPECT_EQ(wheel.next(), never);
}

TEST_F(TimerWheelTest, time_that_goes_back_fires_nothing_and_loses_nothing) {
  Timer timer;
  wheel.advance(start + seconds(10));
  wheel.arm(timer, start + seconds(12));
  wheel.advance(start);
  EXPECT_EQ(timer.fired, 0);
  Timer late;
  wheel.arm(late, start + seconds(5));
  EXPECT_GT(late.expiry(), start + seconds(10)) << "the present does not go back";
  wheel.advance(start + seconds(13));
  EXPECT_EQ(timer.fired, 1);
  EXPECT_EQ(late.fired, 1);
}

TEST_F(TimerWheelTest, arming_counts_as_one_operation_and_waiting_as_few) {
  Timer timer;
  wheel.arm(timer, start + days(1));
  EXPECT_EQ(wheel.operations(), 1u);
  for (int second = 0; second < 24 * 3600; ++second) wheel.advance(start + seconds(second));
  EXPECT_EQ(timer.fired, 0);
  wheel.advance(start + days(1) + milliseconds(1));
  EXPECT_EQ(timer.fired, 1);
  EXPECT_LE(wheel.operations(), 8u);  // it moves down a level at most
}

// ---- against a model: a map of due times ----

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed), timers_(60) {
    now_ = Instant{static_cast<std::int64_t>(random_() % (std::uint64_t{1} << 55))};
    wheel_ = std::make_unique<TimerWheel>(now_);
    for (std::size_t index = 0; index < timers_.size(); ++index) {
      timers_[index].action = [this, index] { on_fire(index); };
    }
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const std::size_t index = random_() % timers_.size();
      switch (random_() % 6) {
        case 0:
        case 1:
        case 2:
          due_[index] = now_ + random_duration();
          wheel_->arm(timers_[index], due_[index]);
          break;
        case 3:
          timers_[index].cancel();
          due_.erase(index);
          break;
        default: advance();
      }
      check_next();
      if (testing::Test::HasFailure()) return;
    }
  }

  int fired() const { return fired_; }

 private:
  // A duration of any magnitude from a millisecond to a year.
  Duration random_duration() {
    const std::uint64_t magnitude = random_() % 36;
    return microseconds(static_cast<std::int64_t>(random_() % (std::uint64_t{1000} << magnitude)));
  }

  void on_fire(std::size_t index) {
    ++fired_;
    const auto found = due_.find(index);
    ASSERT_NE(found, due_.end()) << "a timer fired that was not armed";
    EXPECT_LE(found->second, now_) << "a timer fired early";
    due_.erase(found);
    if (random_() % 4 == 0) {
      due_[index] = now_ + random_duration();
      wheel_->arm(timers_[index], due_[index]);
    }
  }

  // Moves either to the time of next(), as a reactor does, or by any step.
  void advance() {
    const Instant next = wheel_->next();
    if (next != never && random_() % 2 == 0) {
      now_ = std::max(now_, next);
    } else {
      now_ = now_ + random_duration();
    }
    wheel_->advance(now_);
    for (const auto& [index, due] : due_) {
      EXPECT_GT(due + milliseconds(1), now_) << "a timer is more than a millisecond late";
    }
  }

  // A caller that sleeps until next() is not late for any timer.
  void check_next() {
    const Instant next = wheel_->next();
    ASSERT_EQ(next == never, due_.empty());
    for (const auto& [index, due] : due_) {
      ASSERT_LE(next, due + milliseconds(1)) << "next() is late";
    }
  }

  std::mt19937_64 random_;
  Instant now_;
  std::unique_ptr<TimerWheel> wheel_;
  std::vector<Timer> timers_;
  std::map<std::size_t, Instant> due_;
  int fired_ = 0;
};

TEST(TimerWheel, agrees_with_a_map_of_due_times_over_any_history) {
  int fired = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Model model(seed);
    model.run(2000);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    fired += model.fired();
  }
  EXPECT_GT(fired, 10'000);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
