#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "katana/base/system/adaptive_spin.hpp"
#include "katana/base/thread/pool_fixture_test.hpp"

namespace katana::thread {
namespace {

TEST(PoolStop, a_graceful_stop_runs_everything_that_was_accepted) {
  const auto pool = make_pool(2);
  std::atomic<int> ran = 0;
  for (int count = 0; count < 1'000; ++count) {
    EXPECT_EQ(pool->post([&ran] { ++ran; }), Admission::accepted);
  }
  const StopReport report = pool->stop(StopMode::graceful);
  EXPECT_EQ(ran, 1'000);
  EXPECT_EQ(report.ran, 1'000u);
  EXPECT_EQ(report.not_run_total(), 0u);
}

TEST(PoolStop, a_stopped_pool_refuses_and_says_so) {
  const auto pool = make_pool({.name = "ended", .threads_min = 1});
  pool->stop(StopMode::graceful);
  EXPECT_EQ(pool->post([] {}), Admission::stopped);
  EXPECT_EQ(pool->post([] {}, {.when_full = WhenFull::wait}), Admission::stopped);
  EXPECT_EQ(pool->post([] {}, {.when_full = WhenFull::run_here}), Admission::stopped);
  const Result<void> refused = pool->submit([] {}).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unavailable);
  EXPECT_EQ(refused.error().message(), "pool 'ended' is stopped");
  EXPECT_FALSE(pool->after(seconds(1), [] {}));
}

TEST(PoolStop, an_immediate_stop_finishes_what_runs_and_reports_what_it_did_not_run) {
  const auto pool = make_pool(1);
  Gate gate;
  gate.hold(*pool);
  std::atomic<int> ran = 0;
  EXPECT_EQ(pool->post([&ran] { ++ran; }, {.priority = Priority::high}), Admission::accepted);
  for (int count = 0; count < 100; ++count) {
    EXPECT_EQ(pool->post([&ran] { ++ran; }), Admission::accepted);
  }
  Future<int> waiting = pool->submit([&ran] { return ++ran; }, {.priority = Priority::low});
  StopReport report;
  std::thread stopper([&] { report = pool->stop(StopMode::immediate); });
  wait_until([&] { return pool->stop_token().stop_requested(); });
  gate.open();
  const Result<int> outcome = waiting.get();
  stopper.join();
  EXPECT_EQ(outcome.error().code(), Code::cancelled);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(report.ran, 1u);
  EXPECT_EQ(report.not_run, (std::array<std::uint64_t, 3>{1, 100, 1}));
  EXPECT_EQ(report.cancelled, 102u);
}

TEST(PoolStop, an_immediate_stop_asks_long_jobs_to_end) {
  const auto pool = make_pool(1);
  std::binary_semaphore begun(0);
  Future<bool> asked = pool->submit([&begun](std::stop_token token) {
    begun.release();
    while (!token.stop_requested()) std::this_thread::yield();
    return true;
  });
  begun.acquire();
  pool->stop(StopMode::immediate);
  EXPECT_TRUE(asked.get().value());
}

TEST(PoolStop, an_immediate_stop_hastens_a_graceful_one) {
  const auto pool = make_pool(1);
  Gate gate;
  gate.hold(*pool);
  std::atomic<int> ran = 0;
  for (int count = 0; count < 10; ++count) {
    EXPECT_EQ(pool->post([&ran] { ++ran; }), Admission::accepted);
  }
  std::thread graceful([&] { pool->stop(StopMode::graceful); });
  wait_until([&] { return pool->post([&ran] { ++ran; }) == Admission::stopped; });
  std::thread immediate([&] { EXPECT_GE(pool->stop(StopMode::immediate).not_run_total(), 10u); });
  wait_until([&] { return pool->stop_token().stop_requested(); });
  gate.open();
  graceful.join();
  immediate.join();
}

TEST(PoolStop, a_second_stop_gives_the_same_report) {
  const auto pool = make_pool(1);
  EXPECT_TRUE(pool->submit([] {}).get());
  EXPECT_EQ(pool->stop(StopMode::graceful).ran, 1u);
  EXPECT_EQ(pool->stop(StopMode::immediate).ran, 1u);
}

TEST(PoolStop, a_sender_that_waits_for_room_is_told_that_the_pool_has_stopped) {
  const auto pool = make_pool({.threads_min = 1, .queue_max = 1});
  Gate gate;
  gate.hold(*pool);
  EXPECT_EQ(pool->post([] {}), Admission::accepted);
  std::atomic<int> begun = 0;
  std::vector<std::thread> senders;
  std::atomic<int> stopped = 0, accepted = 0;
  for (int count = 0; count < 3; ++count) {
    senders.emplace_back([&] {
      ++begun;
      const Admission admission = pool->post([] {}, {.when_full = WhenFull::wait});
      ++(admission == Admission::stopped ? stopped : accepted);
    });
  }
  wait_until([&] { return begun == 3; });
  std::thread stopper([&] { pool->stop(StopMode::graceful); });
  for (std::thread& each : senders) each.join();  // before any room was made
  EXPECT_EQ(stopped, 3);
  EXPECT_EQ(accepted, 0);
  gate.open();
  stopper.join();
}

// The checker: each job counts its runs. An accepted job must have run once, or have been cancelled
// and reported. A refused job must not have run.
struct Ledger {
  static constexpr std::size_t senders = 3, each_sends = 4'000;
  std::vector<std::atomic<std::uint8_t>> runs =
      std::vector<std::atomic<std::uint8_t>>(senders * each_sends);
  std::vector<std::uint8_t> accepted = std::vector<std::uint8_t>(senders * each_sends, 0);

  void send(Pool& pool, std::size_t sender, std::uint32_t random) {
    for (std::size_t number = 0; number < each_sends; ++number) {
      random = random * 1664525 + 1013904223;
      const std::size_t index = sender * each_sends + number;
      const JobOptions options{.priority = static_cast<Priority>((random >> 8) % 3),
                               .when_full = static_cast<WhenFull>((random >> 12) % 3)};
      const std::uint32_t work = random >> 24;
      const auto job = [run = &runs[index], work] {
        for (std::uint32_t spin = 0; spin < (work > 250 ? 2'000u : work / 8); ++spin) relax();
        run->fetch_add(1);
      };
      Admission admission;
      if ((random >> 16) % 4 == 0) {
        // The future is dropped or awaited.
        auto future = pool.submit(job, options);
        if ((random >> 18) % 2 == 0) {
          admission = future.get() ? Admission::accepted : Admission::full;
        } else {
          continue;  // its fate is told by runs[] only: at most once
        }
      } else {
        admission = pool.post(job, options);
      }
      accepted[index] = admission <= Admission::ran_here ? 1 : 2;
    }
  }
};

class PoolStress : public testing::TestWithParam<std::tuple<int, StopMode>> {};

TEST_P(PoolStress, every_accepted_job_ends_exactly_once) {
  const auto [seed, mode] = GetParam();
  const unsigned threads = 1 + static_cast<unsigned>(seed) % 3;
  const auto pool = make_pool({.threads_min = threads,
                               .threads_max = threads,
                               .queue_max = std::size_t{1} << (seed % 4 * 3),
                               .timed_one_in = 4});
  Ledger ledger;
  std::vector<std::thread> senders;
  for (std::size_t sender = 0; sender < Ledger::senders; ++sender) {
    senders.emplace_back([&, sender] {
      ledger.send(*pool, sender, static_cast<std::uint32_t>(seed * 977 + int(sender)));
    });
  }
  // The stop comes in the midst of it; how far they are by then is up to the scheduler.
  wait_until([&] {
    const Snapshot shot = pool->snapshot();
    return shot.ran + shot.ran_here > 2'000;
  });
  const StopReport report = pool->stop(mode);
  for (std::thread& each : senders) each.join();

  const Snapshot shot = pool->snapshot();
  EXPECT_EQ(shot.accepted, shot.ran + shot.failed + shot.cancelled);
  EXPECT_EQ(shot.queued_total(), 0u);
  EXPECT_EQ(report.ran + report.cancelled, shot.accepted);
  if (mode == StopMode::graceful) {
    EXPECT_EQ(report.not_run_total(), 0u);
  }
  std::uint64_t ran = 0, missing = 0;
  for (std::size_t index = 0; index < ledger.runs.size(); ++index) {
    const int runs = ledger.runs[index].load();
    ASSERT_LE(runs, 1) << "job " << index << " ran twice";
    ran += static_cast<std::uint64_t>(runs);
    if (ledger.accepted[index] == 2) {
      ASSERT_EQ(runs, 0) << "refused job " << index << " ran";
    }
    if (ledger.accepted[index] == 1 && runs == 0) ++missing;
  }
  EXPECT_EQ(ran, shot.ran + shot.ran_here);
  EXPECT_LE(missing, report.not_run_total());
  if (mode == StopMode::graceful) {
    EXPECT_EQ(missing, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PoolStress,
                         testing::Combine(testing::Range(0, 12),
                                          testing::Values(StopMode::graceful,
                                                          StopMode::immediate)));

}  // namespace
}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
