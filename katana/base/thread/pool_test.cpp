#include "katana/base/thread/pool.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/signal_masks_test.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <vector>

#include "katana/base/thread/pool_fixture_test.hpp"

namespace katana::thread {
namespace {

TEST(Pool, a_future_brings_the_value_of_its_job) {
  const auto pool = make_pool(2);
  Future<int> answer = pool->submit([] { return 42; });
  EXPECT_EQ(answer.get().value(), 42);
  Future<void> nothing = pool->submit([] {});
  EXPECT_TRUE(nothing.get());
  auto owned = pool->submit(
      [text = std::make_unique<std::string>("moved")]() mutable { return std::move(text); });
  EXPECT_EQ(*owned.get().value(), "moved");
}

TEST(Pool, a_job_that_returns_a_result_gives_that_result_and_not_one_within_one) {
  const auto pool = make_pool(1);
  Future<Result<int>> lost =
      pool->submit([]() -> Result<int> { return fail(Code::not_found, "no such line"); });
  const Result<int> result = lost.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "no such line");
}

TEST(Pool, an_exception_is_carried_to_whoever_waits) {
  const auto pool = make_pool(1);
  Future<int> broken = pool->submit([]() -> int { throw std::runtime_error("broken"); });
  try {
    (void)broken.get();
    ADD_FAILURE() << "no exception came";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "broken");
  }
  pool->stop(StopMode::graceful);
  EXPECT_EQ(pool->snapshot().failed, 1u);
}

TEST(Pool, an_exception_that_nobody_waits_for_is_counted_and_reported_and_the_worker_goes_on) {
  std::string reported;
  const auto pool = make_pool({.threads_min = 1, .on_failure = [&](std::exception_ptr failure) {
                                 try {
                                   std::rethrow_exception(failure);
                                 } catch (const std::exception& error) {
                                   reported = error.what();
                                 }
                               }});
  EXPECT_EQ(pool->post([] { throw std::runtime_error("unheard"); }), Admission::accepted);
  EXPECT_EQ(pool->submit([] { return 1; }).get().value(), 1);
  EXPECT_EQ(reported, "unheard");
  pool->stop(StopMode::graceful);
  EXPECT_EQ(pool->snapshot().failed, 1u);
  EXPECT_EQ(pool->snapshot().ran, 1u);
}

TEST(Pool, an_exception_of_a_job_whose_future_was_dropped_is_reported) {
  std::string reported;
  const auto pool = make_pool({.threads_min = 1, .on_failure = [&](std::exception_ptr failure) {
                                 reported = describe(failure);
                               }});
  std::binary_semaphore dropped(0);
  {
    const auto future = pool->submit([&] {
      dropped.acquire();
      throw std::runtime_error("unheard");
    });
  }
  dropped.release();
  pool->stop(StopMode::graceful);
  EXPECT_EQ(reported, "unheard");
}

TEST(Pool, an_exception_is_reported_when_its_future_is_dropped_after_the_job_and_not_once_taken) {
  std::vector<std::string> reported;
  const auto pool = make_pool({.threads_min = 1, .on_failure = [&](std::exception_ptr failure) {
                                 reported.push_back(describe(failure));
                               }});
  {
    const auto dropped = pool->submit([] { throw std::runtime_error("unheard"); });
    dropped.wait();
    EXPECT_TRUE(reported.empty());
  }
  EXPECT_EQ(reported, std::vector<std::string>{"unheard"});
  {
    auto taken = pool->submit([] { throw std::runtime_error("heard"); });
    EXPECT_THROW((void)taken.get(), std::runtime_error);
  }
  EXPECT_EQ(reported.size(), 1u);
}

TEST(Pool, an_exception_whose_future_outlives_the_pool_is_a_line_on_standard_error) {
  auto pool = make_pool({.threads_min = 1, .on_failure = [](std::exception_ptr) {
                           ADD_FAILURE() << "the pool's owner may be gone";
                         }});
  testing::internal::CaptureStderr();
  {
    const auto future = pool->submit([] { throw std::runtime_error("unheard"); });
    pool.reset();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a pool that has ended: a job threw: std::runtime_error: unheard\n");
}

TEST(Pool, an_exception_of_a_job_that_the_caller_ran_is_reported_too) {
  std::vector<std::string> reported;
  std::binary_semaphore go(0);
  std::binary_semaphore begun(0);
  const auto pool = make_pool({.threads_min = 1, .queue_max = 2, .on_failure = [&](auto failure) {
                                 reported.push_back(describe(failure));
                               }});
  auto first = pool->submit([&] { begun.release(), go.acquire(); });
  begun.acquire();
  while (pool->post([] {}) == Admission::accepted) {
  }
  {
    const auto here =
        pool->submit([] { throw std::runtime_error("here"); }, {.when_full = WhenFull::run_here});
  }
  EXPECT_EQ(reported, std::vector<std::string>{"here"});
  go.release();
}

TEST(Pool, without_a_handler_an_exception_is_a_line_on_standard_error) {
  testing::internal::CaptureStderr();
  const auto pool = make_pool({.name = "mails", .threads_min = 1});
  for (int count = 0; count < 100; ++count) {
    EXPECT_EQ(pool->post([] { throw std::runtime_error("no server"); }), Admission::accepted);
  }
  pool->stop(StopMode::graceful);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("pool 'mails': a job threw: std::runtime_error: no server\n"), 0u) << text;
  EXPECT_LT(std::ranges::count(text, '\n'), 50);
}

TEST(Pool, a_full_queue_refuses_by_default_and_takes_exactly_its_limit) {
  const auto pool = make_pool({.name = "small", .threads_min = 1, .queue_max = 4});
  Gate gate;
  gate.hold(*pool);
  std::atomic<int> ran = 0;
  for (int count = 0; count < 4; ++count) {
    EXPECT_EQ(pool->post([&ran] { ++ran; }), Admission::accepted);
  }
  EXPECT_EQ(pool->post([&ran] { ++ran; }), Admission::full);
  const Result<int> refused = pool->submit([] { return 1; }).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
  EXPECT_EQ(refused.error().message(),
            "the queue of pool 'small' is full (4 jobs). Try later, raise queue_max, or submit "
            "with another WhenFull");
  EXPECT_EQ(pool->snapshot().queued[1], 4u);
  gate.open();
  pool->stop(StopMode::graceful);
  EXPECT_EQ(ran, 4);
  EXPECT_EQ(pool->snapshot().refused, 2u);
}

TEST(Pool, a_refused_job_is_destroyed) {
  const auto pool = make_pool({.threads_min = 1, .queue_max = 1});
  Gate gate;
  gate.hold(*pool);
  EXPECT_EQ(pool->post([] {}), Admission::accepted);
  const auto owned = std::make_shared<int>();
  EXPECT_EQ(pool->post([owned] {}), Admission::full);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Pool, when_full_a_job_can_be_run_by_the_thread_that_submits_it) {
  const auto pool = make_pool({.threads_min = 1, .queue_max = 1});
  Gate gate;
  gate.hold(*pool);
  EXPECT_EQ(pool->post([] {}), Admission::accepted);
  std::thread::id ran_on;
  EXPECT_EQ(
      pool->post([&] { ran_on = std::this_thread::get_id(); }, {.when_full = WhenFull::run_here}),
      Admission::ran_here);
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_EQ(pool->submit([] { return 5; }, {.when_full = WhenFull::run_here}).get().value(), 5);
  EXPECT_EQ(pool->snapshot().ran_here, 2u);
}

TEST(Pool, when_full_a_submission_can_wait_for_room) {
  const auto pool = make_pool({.threads_min = 1, .queue_max = 2});
  Gate gate;
  gate.hold(*pool);
  EXPECT_EQ(pool->post([] {}), Admission::accepted);
  EXPECT_EQ(pool->post([] {}), Admission::accepted);
  std::atomic<bool> accepted = false;
  std::thread sender([&] {
    EXPECT_EQ(pool->post([] {}, {.when_full = WhenFull::wait}), Admission::accepted);
    accepted = true;
  });
  EXPECT_FALSE(accepted);
  gate.open();
  sender.join();
  EXPECT_TRUE(accepted);
}

TEST(Pool, a_worker_that_submits_to_its_own_full_pool_runs_the_job_instead_of_waiting_for_itself) {
  const auto pool = make_pool({.threads_min = 1, .queue_max = 1});
  auto admissions = pool->submit([&] {
    std::vector<Admission> all;
    for (int count = 0; count < 3; ++count) {
      all.push_back(pool->post([] {}, {.when_full = WhenFull::wait}));
    }
    return all;
  });
  EXPECT_EQ(admissions.get().value(),
            (std::vector{Admission::accepted, Admission::ran_here, Admission::ran_here}));
}

TEST(Pool, higher_priorities_begin_first_and_each_keeps_its_order) {
  const auto pool = make_pool(1);
  std::vector<int> order;
  {
    Gate gate;
    gate.hold(*pool);
    const auto note = [&](int number, Priority priority) {
      EXPECT_EQ(pool->post([&order, number] { order.push_back(number); }, {.priority = priority}),
                Admission::accepted);
    };
    note(31, Priority::low);
    note(21, Priority::normal);
    note(11, Priority::high);
    note(32, Priority::low);
    note(22, Priority::normal);
    note(12, Priority::high);
  }
  pool->stop(StopMode::graceful);
  EXPECT_EQ(order, (std::vector{11, 12, 21, 22, 31, 32}));
}

TEST(Pool, an_urgent_job_passes_those_that_the_worker_has_claimed_already) {
  const auto pool = make_pool(1);
  std::vector<int> order;
  Gate gate;
  gate.hold(*pool);
  // The first of these posts the urgent job when the others are claimed with it.
  EXPECT_EQ(pool->post([&] {
    order.push_back(1);
    EXPECT_EQ(pool->post([&] { order.push_back(0); }, {.priority = Priority::high}),
              Admission::accepted);
  }),
            Admission::accepted);
  for (int number = 2; number < 8; ++number) {
    EXPECT_EQ(pool->post([&order, number] { order.push_back(number); }), Admission::accepted);
  }
  gate.open();
  wait_until([&] { return pool->snapshot().ran == 9; });
  pool->stop(StopMode::graceful);
  EXPECT_EQ(order, (std::vector{1, 0, 2, 3, 4, 5, 6, 7}));
}

TEST(Pool, a_flood_of_urgent_jobs_does_not_starve_the_low_ones) {
  const auto pool = make_pool(1);
  std::atomic<bool> low_ran = false;
  std::atomic<int> high_ran = 0;
  Gate gate;
  gate.hold(*pool);
  EXPECT_EQ(pool->post([&] { low_ran = true; }, {.priority = Priority::low}), Admission::accepted);
  // Every urgent job posts the next one, until the low one had its turn.
  std::function<void()> urgent = [&] {
    ++high_ran;
    if (!low_ran) {
      EXPECT_EQ(pool->post([&urgent] { urgent(); }, {.priority = Priority::high}),
                Admission::accepted);
    }
  };
  urgent();
  gate.open();
  wait_until([&] { return low_ran.load(); });
  pool->stop(StopMode::graceful);
  EXPECT_LE(high_ran, 64);
}

TEST(Pool, no_job_waits_behind_a_long_one_while_another_worker_is_idle) {
  const auto pool = make_pool(2);
  // Both workers are held. The worker that is freed first then claims many of the later jobs.
  Gate first, second;
  first.hold(*pool);
  second.hold(*pool);
  std::atomic<int> ran = 0;
  std::binary_semaphore entered(0), leave(0);
  EXPECT_EQ(pool->post([&] {
    entered.release();
    leave.acquire();
  }),
            Admission::accepted);
  for (int count = 0; count < 200; ++count) {
    EXPECT_EQ(pool->post([&ran] { ++ran; }), Admission::accepted);
  }
  first.open();
  entered.acquire();  // that worker is in a long job, others claimed behind it
  second.open();
  wait_until([&] { return ran == 200; });
  leave.release();
  pool->stop(StopMode::graceful);  // before the gate of the job is destroyed
}

TEST(Pool, a_job_whose_token_was_asked_to_stop_before_it_begins_is_cancelled) {
  const auto pool = make_pool(1);
  std::stop_source source;
  Gate gate;
  gate.hold(*pool);
  std::atomic<int> ran = 0;
  Future<void> waiting = pool->submit([&ran] { ++ran; }, {.cancel = source.get_token()});
  EXPECT_EQ(pool->post([&ran] { ++ran; }, {.cancel = source.get_token()}), Admission::accepted);
  source.request_stop();
  gate.open();
  EXPECT_EQ(waiting.get().error().code(), Code::cancelled);
  pool->stop(StopMode::graceful);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(pool->snapshot().cancelled, 2u);
}

TEST(Pool, a_job_that_runs_can_look_at_its_token) {
  const auto pool = make_pool(1);
  std::stop_source source;
  std::binary_semaphore begun(0);
  Future<int> rounds = pool->submit(
      [&begun](std::stop_token token) {
        begun.release();
        int count = 1;
        for (; !token.stop_requested(); ++count) std::this_thread::yield();
        return count;
      },
      {.cancel = source.get_token()});
  begun.acquire();
  source.request_stop();
  EXPECT_GE(rounds.get().value(), 1);
}

TEST(Pool, a_future_can_cancel_its_job_before_it_begins) {
  const auto pool = make_pool(1);
  Gate gate;
  gate.hold(*pool);
  std::atomic<int> ran = 0;
  Future<void> unwanted = pool->submit([&ran] { ++ran; });
  unwanted.cancel();
  gate.open();
  EXPECT_EQ(unwanted.get().error().code(), Code::cancelled);
  EXPECT_EQ(ran, 0);
}

TEST(Pool, dropping_a_future_lets_its_job_run) {
  const auto pool = make_pool(1);
  std::atomic<int> ran = 0;
  {
    Gate gate;
    gate.hold(*pool);
    (void)pool->submit([&ran] { return ++ran; });
  }
  pool->stop(StopMode::graceful);
  EXPECT_EQ(ran, 1);
}

TEST(Pool, its_threads_carry_its_name_and_a_number) {
  const auto pool = make_pool({.name = "a-very-long-pool-name", .threads_min = 1});
  auto name = pool->submit([] {
    char text[16] = {};
    // The name is given right after the thread was begun.
    while (std::string_view(text).find('/') == std::string_view::npos) {
      pthread_getname_np(pthread_self(), text, sizeof text);
    }
    return std::string(text);
  });
  EXPECT_EQ(name.get().value(), "a-very-long-p/0");
  EXPECT_EQ(pool->submit([] { return Pool::current(); }).get().value(), pool.get());
  EXPECT_EQ(Pool::current(), nullptr);
}

TEST(Pool, its_workers_can_be_pinned_and_a_cpu_that_is_not_there_is_an_error_that_names_it) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &mine)) ++cpu;
  const auto pool = make_pool({.threads_min = 1, .cpus = {cpu}});
  auto pinned = pool->submit([cpu] {
    cpu_set_t set;
    do {  // it is pinned right after it was begun
      sched_getaffinity(0, sizeof set, &set);
    } while (CPU_COUNT(&set) != 1);
    return CPU_ISSET(cpu, &set) && sched_getcpu() == cpu;
  });
  EXPECT_TRUE(pinned.get().value());
  const auto refused = Pool::create({.name = "far", .threads_min = 1, .cpus = {1000}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("pool 'far': CPU 1000 is not available"),
            std::string_view::npos);
}

TEST(Pool, wrong_options_are_refused_with_what_they_may_be) {
  const auto message = [](PoolOptions options) {
    const auto pool = Pool::create(std::move(options));
    return pool ? std::string("accepted") : std::string(pool.error().message());
  };
  EXPECT_EQ(message({.name = ""}), "pool '': its name is empty: give it one");
  EXPECT_EQ(message({.name = "a", .threads_min = 3, .threads_max = 2}),
            "pool 'a': threads_min is 3 and threads_max 2: give 1 <= min <= max <= 1024");
  EXPECT_EQ(message({.name = "a", .queue_max = 0}), "pool 'a': queue_max is 0: give 1 to 16777216");
  EXPECT_EQ(message({.name = "a", .timed_one_in = 3}),
            "pool 'a': timed_one_in is 3: give a power of two");
}

TEST(Pool, its_snapshot_counts_waits_and_runs) {
  ManualClock clock(Instant{1'000});
  const auto pool = make_pool({.name = "m", .threads_min = 1, .timed_one_in = 1, .clock = &clock});
  Gate gate;
  gate.hold(*pool);
  EXPECT_EQ(pool->post([&clock] { clock.advance(microseconds(3)); }), Admission::accepted);
  clock.advance(milliseconds(2));  // the gate has run so long, and the job waited so long
  EXPECT_EQ(pool->snapshot().busy, milliseconds(2));
  EXPECT_EQ(pool->snapshot().queued_total(), 1u);
  gate.open();
  pool->stop(StopMode::graceful);
  const Snapshot shot = pool->snapshot();
  EXPECT_EQ(shot.name, "m");
  EXPECT_EQ(shot.threads, 0u);
  EXPECT_EQ(shot.accepted, 2u);
  EXPECT_EQ(shot.ran, 2u);
  EXPECT_EQ(shot.queued_total(), 0u);
  EXPECT_EQ(shot.wait.count, 2u);
  EXPECT_EQ(shot.wait.sum, milliseconds(2));
  EXPECT_EQ(shot.run.sum, microseconds(2'003));
  EXPECT_EQ(shot.run.quantile(0.5), Duration{1 << 12});
  EXPECT_EQ(shot.busy, microseconds(2'003));
}

// A line of the kernel's status of a thread: `State`, or the number of its switches.
std::string status_of(int thread, const std::string& name) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(name)) return line;
  }
  return {};
}

// Context switches, not wall time: a sleeping thread has none, a polling one has many.
TEST(Pool, the_worker_of_an_idle_pool_is_never_woken) {
  const auto pool = make_pool(1);
  const int worker = pool->submit([] { return gettid(); }).get().value();
  wait_until([&] {
    return pool->snapshot().threads_parked == 1 &&
           status_of(worker, "State").find('S') != std::string::npos;
  });
  const std::string before = status_of(worker, "voluntary_ctxt_switches");
  EXPECT_FALSE(before.empty());
  for (int round = 0; round < 20'000; ++round) std::this_thread::yield();
  EXPECT_EQ(status_of(worker, "voluntary_ctxt_switches"), before);
  EXPECT_TRUE(pool->submit([] {}).get());
  wait_until([&] { return status_of(worker, "voluntary_ctxt_switches") != before; });
}

// Otherwise SIGTERM could end the process instead of beginning the drain of a server beside the
// pool.
TEST(Pool, no_thread_of_it_takes_a_signal_of_the_program) {
  const auto pool = make_pool({.name = "quiet", .threads_min = 2});
  const auto later = pool->after(seconds(3600), [] {});
  ASSERT_TRUE(later);
  EXPECT_EQ(quiet_threads("quiet"), 3u) << "two workers, and the one that looks at the clock";
}

}  // namespace
}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
