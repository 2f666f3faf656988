#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "katana/base/thread/pool_fixture_test.hpp"

namespace katana::thread {
namespace {

class PoolTime : public testing::Test {
 protected:
  PoolTime() : pool(make_pool({.name = "timed", .threads_min = 1, .clock = &clock})) {}

  ManualClock clock{Instant{seconds(100).ns}};
  std::unique_ptr<Pool> pool;
  std::atomic<int> ran = 0;
};

TEST_F(PoolTime, a_delayed_job_runs_once_at_its_time_and_not_before) {
  auto job = pool->after(milliseconds(250), [this] { ++ran; });
  ASSERT_TRUE(job);
  clock.advance(milliseconds(249));
  EXPECT_EQ(pool->snapshot().accepted, 0u);
  EXPECT_EQ(pool->snapshot().timed_waiting, 1u);
  clock.advance(milliseconds(1));
  EXPECT_EQ(pool->snapshot().accepted, 1u);
  wait_until([this] { return ran == 1; });
  clock.advance(seconds(10));
  EXPECT_EQ(pool->snapshot().accepted, 1u);
}

TEST_F(PoolTime, a_periodic_job_runs_once_for_each_period) {
  auto job = pool->every(seconds(1), [this] { ++ran; });
  ASSERT_TRUE(job);
  for (int turn = 1; turn <= 5; ++turn) {
    clock.advance(milliseconds(999));
    EXPECT_EQ(pool->snapshot().accepted, std::uint64_t(turn - 1));
    clock.advance(milliseconds(1));
    wait_until([&] { return pool->snapshot().timed_waiting == 1; });  // armed for the next turn
    EXPECT_EQ(ran, turn);
  }
  EXPECT_EQ(pool->snapshot().timed_missed, 0u);
}

TEST_F(PoolTime, a_periodic_job_that_takes_longer_than_its_period_leaves_turns_out) {
  std::binary_semaphore begun(0), leave(0);
  auto job = pool->every(seconds(1), [&] {
    begun.release();
    leave.acquire();
  });
  ASSERT_TRUE(job);
  clock.advance(seconds(1));
  begun.acquire();
  clock.advance(milliseconds(3'500));  // its turns at 2, 3 and 4 s pass
  leave.release();
  wait_until([this] { return pool->snapshot().timed_waiting == 1; });
  EXPECT_EQ(pool->snapshot().timed_missed, 3u);
  clock.advance(milliseconds(499));
  EXPECT_EQ(pool->snapshot().accepted, 1u);
  clock.advance(milliseconds(1));  // the turn at 5 s: the rhythm is kept
  begun.acquire();
  EXPECT_EQ(pool->snapshot().accepted, 2u);
  leave.release();
  pool->stop(StopMode::graceful);  // before the gate of the job is destroyed
}

TEST_F(PoolTime, a_periodic_job_that_throws_goes_on) {
  auto job = pool->every(seconds(1), [this] {
    ++ran;
    throw 1;
  });
  ASSERT_TRUE(job);
  for (int turn = 1; turn <= 2; ++turn) {
    clock.advance(seconds(1));
    wait_until([this] { return pool->snapshot().timed_waiting == 1; });
  }
  EXPECT_EQ(ran, 2);
  pool->stop(StopMode::graceful);
  EXPECT_EQ(pool->snapshot().failed, 2u);
}

TEST_F(PoolTime, destroying_the_handle_cancels_the_turns_to_come) {
  const auto owned = std::make_shared<int>();
  {
    auto once = pool->after(seconds(1), [this, owned] { ++ran; });
    auto often = pool->every(seconds(1), [this, owned] { ++ran; });
    ASSERT_TRUE(once && often);
  }
  clock.advance(seconds(3));
  EXPECT_EQ(pool->snapshot().accepted, 0u);
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(ran, 0);
}

TEST_F(PoolTime, a_handle_that_was_let_go_leaves_its_job_running) {
  auto job = pool->after(seconds(1), [this] { ++ran; });
  ASSERT_TRUE(job);
  job->let_go();
  clock.advance(seconds(1));
  wait_until([this] { return ran == 1; });
}

TEST_F(PoolTime, jobs_are_queued_in_the_order_of_their_times) {
  std::vector<int> order;
  std::vector<TimedJob> jobs;
  for (const int ms : {300, 20, 1'000, 7}) {
    jobs.push_back(pool->after(milliseconds(ms), [&order, ms] { order.push_back(ms); }).value());
  }
  clock.advance(seconds(2));
  pool->stop(StopMode::graceful);
  EXPECT_EQ(order, (std::vector{7, 20, 300, 1'000}));
}

TEST_F(PoolTime, a_delayed_job_that_finds_the_queue_full_is_not_lost) {
  const auto small =
      make_pool({.name = "small", .threads_min = 1, .queue_max = 1, .clock = &clock});
  Gate gate;
  gate.hold(*small);
  EXPECT_EQ(small->post([] {}), Admission::accepted);
  auto job = small->after(milliseconds(5), [this] { ++ran; });
  ASSERT_TRUE(job);
  clock.advance(milliseconds(20));
  EXPECT_EQ(small->snapshot().timed_waiting, 1u);
  gate.open();
  wait_until([&] { return small->snapshot().ran == 2; });
  clock.advance(milliseconds(1));
  wait_until([this] { return ran == 1; });
}

TEST_F(PoolTime, a_stop_drops_and_counts_the_jobs_whose_time_has_not_come) {
  auto later = pool->after(seconds(1), [this] { ++ran; });
  auto often = pool->every(seconds(1), [this] { ++ran; });
  auto cancelled = pool->after(seconds(1), [this] { ++ran; });
  cancelled->cancel();
  EXPECT_EQ(pool->stop(StopMode::graceful).timed_not_run, 2u);
  clock.advance(seconds(5));
  EXPECT_EQ(ran, 0);
}

TEST_F(PoolTime, a_delay_or_period_below_nothing_is_refused) {
  EXPECT_FALSE(pool->after(milliseconds(-1), [] {}));
  EXPECT_FALSE(pool->every(milliseconds(-1), [] {}));
  EXPECT_FALSE(pool->every(Duration{}, [] {}));
}

TEST(PoolRealTime, with_the_machine_s_clock_delayed_and_periodic_jobs_come_too) {
  const auto pool = make_pool(1);
  std::atomic<int> turns = 0;
  std::binary_semaphore done(0);
  auto often = pool->every(milliseconds(1), [&] { ++turns; });
  auto once = pool->after(milliseconds(5), [&] { done.release(); });
  ASSERT_TRUE(often && once);
  done.acquire();
  wait_until([&] { return turns >= 3; });
  pool->stop(StopMode::graceful);  // before the variables of the jobs are destroyed
}

TEST(Schedule, the_next_turn_keeps_the_rhythm_whatever_was_missed) {
  std::uint64_t missed = 0;
  EXPECT_EQ(Schedule::next_turn(Instant{1000}, Duration{10}, Instant{1000}, missed), Instant{1010});
  EXPECT_EQ(Schedule::next_turn(Instant{1000}, Duration{10}, Instant{1009}, missed), Instant{1010});
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(Schedule::next_turn(Instant{1000}, Duration{10}, Instant{1035}, missed), Instant{1040});
  EXPECT_EQ(missed, 3u);
}

TEST(Schedule, entries_that_were_cancelled_do_not_pile_up) {
  Schedule schedule;
  for (int count = 0; count < 10'000; ++count) {
    auto entry = std::make_shared<Schedule::Entry>();
    entry->due = Instant{seconds(3600).ns};
    schedule.add(entry);
    if (count % 100 != 0) entry->cancelled = true;
  }
  EXPECT_LE(schedule.size(), 300u);
  EXPECT_GE(schedule.size(), 100u);
}

// Busy shares are made by holding workers with jobs while virtual time passes.
class PoolScale : public testing::Test {
 protected:
  PoolScale() {
    PoolOptions options;
    options.name = "scaled";
    options.threads_min = 1;
    options.threads_max = 3;
    options.autoscale.interval = milliseconds(100);
    options.autoscale.scale_up_intervals = 2;
    options.autoscale.scale_down_intervals = 3;
    options.clock = &clock;
    pool = make_pool(options);
    wait_until([this] { return pool->snapshot().threads_parked == 1; });
  }
  unsigned after(int intervals) {
    for (int count = 0; count < intervals; ++count) clock.advance(milliseconds(100));
    return pool->snapshot().threads;
  }

  ManualClock clock{Instant{seconds(100).ns}};
  std::unique_ptr<Pool> pool;
};

TEST_F(PoolScale, grows_while_its_workers_are_busy_and_shrinks_when_they_rest) {
  {
    Gate gate;
    gate.hold(*pool);
    EXPECT_EQ(after(1), 1u);
    EXPECT_EQ(after(1), 2u);  // all of its one worker's time, for two intervals
    // One of two is busy: neither above 80 % nor below 20 %.
    EXPECT_EQ(after(10), 2u);
    gate.hold(*pool);
    EXPECT_EQ(after(2), 3u);
    gate.hold(*pool);
    EXPECT_EQ(after(10), 3u);  // never more than threads_max
  }
  wait_until([this] { return pool->snapshot().threads_parked == 3; });
  EXPECT_EQ(after(2), 3u);
  EXPECT_EQ(after(2), 2u);
  EXPECT_EQ(after(3), 1u);
  EXPECT_EQ(after(20), 1u);  // never fewer than threads_min
  const Snapshot shot = pool->snapshot();
  EXPECT_EQ(shot.scaled_up, 2u);
  EXPECT_EQ(shot.scaled_down, 2u);
}

TEST_F(PoolScale, jobs_that_wait_get_the_worker_that_was_added) {
  Gate gate;
  gate.hold(*pool);
  std::atomic<int> ran = 0;
  for (int count = 0; count < 10; ++count) {
    EXPECT_EQ(pool->post([&ran] { ++ran; }), Admission::accepted);
  }
  EXPECT_EQ(ran, 0);
  after(2);
  wait_until([&] { return ran == 10; });
}

TEST_F(PoolScale, it_grows_again_after_a_rest) {
  for (int round = 0; round < 3; ++round) {
    {
      Gate gate;
      gate.hold(*pool);
      EXPECT_EQ(after(2), 2u);
    }
    wait_until([this] { return pool->snapshot().threads_parked == 2; });
    EXPECT_EQ(after(6), 1u);
    EXPECT_EQ(pool->snapshot().threads_parked, 1u);
  }
}

TEST_F(PoolScale, a_stop_in_any_state_ends_all_workers) {
  Gate gate;
  gate.hold(*pool);
  after(2);
  gate.open();
  pool->stop(StopMode::graceful);
  EXPECT_EQ(pool->snapshot().threads, 0u);
  clock.advance(seconds(1));
  EXPECT_EQ(pool->snapshot().threads, 0u);
}

}  // namespace
}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
