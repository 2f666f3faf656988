#include "katana/base/thread/run.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/base/thread/pool_fixture_test.hpp"

namespace katana::thread {
namespace {

Task<int> sum_of(Pool& pool, int count) {
  int sum = 0;
  for (int number = 1; number <= count; ++number) {
    sum += (co_await pool.run([number] { return number; })).value();
  }
  co_return sum;
}

TEST(Run, a_coroutine_gets_the_values_of_its_jobs) {
  const auto pool = make_pool(2);
  Loop loop;
  EXPECT_EQ(loop.run(sum_of(*pool, 100)), 5050);
}

struct Places {
  std::thread::id before, job, after;
};

Task<Places> where(Pool& pool) {
  Places places;
  places.before = std::this_thread::get_id();
  places.job = (co_await pool.run([] { return std::this_thread::get_id(); })).value();
  places.after = std::this_thread::get_id();
  co_return places;
}

TEST(Run, the_job_runs_on_a_worker_and_the_coroutine_goes_on_where_it_was) {
  const auto pool = make_pool(1);
  Loop loop;
  const Places places = loop.run(where(*pool));
  EXPECT_EQ(places.before, std::this_thread::get_id());
  EXPECT_NE(places.job, places.before);
  EXPECT_EQ(places.after, places.before);
}

Task<void> await_failure(Pool& pool) {
  (void)co_await pool.run([]() -> int { throw std::runtime_error("in the job"); });
}

TEST(Run, an_exception_of_the_job_is_thrown_where_it_is_awaited) {
  const auto pool = make_pool(1);
  Loop loop;
  EXPECT_THROW(loop.run(await_failure(*pool)), std::runtime_error);
}

Task<Code> await_code(Pool& pool, RunOptions options = RunOptions()) {
  const Result<void> result = co_await pool.run([] {}, options);
  co_return result ? Code::internal : result.error().code();
}

TEST(Run, a_job_that_is_refused_or_cancelled_says_so_and_the_coroutine_goes_on) {
  const auto pool = make_pool({.threads_min = 1, .queue_max = 1});
  Loop loop;
  Gate gate;
  gate.hold(*pool);
  Task<Code> waiting = await_code(*pool);
  EXPECT_FALSE(loop.start(waiting));
  EXPECT_EQ(loop.run(await_code(*pool)), Code::resource_exhausted);
  std::thread stopper([&] { pool->stop(StopMode::immediate); });
  wait_until([&] { return pool->stop_token().stop_requested(); });
  gate.open();
  while (!waiting.done()) loop.turn();
  EXPECT_EQ(waiting.result(), Code::cancelled);
  stopper.join();
  EXPECT_EQ(loop.run(await_code(*pool)), Code::unavailable);
}

TEST(Run, when_full_the_coroutine_may_run_the_job_itself) {
  const auto pool = make_pool({.threads_min = 1, .queue_max = 1});
  Loop loop;
  Gate gate;
  gate.hold(*pool);
  EXPECT_EQ(pool->post([] {}), Admission::accepted);
  EXPECT_EQ(loop.run(await_code(*pool, {.when_full = WhenFull::run_here})), Code::internal);
}

Task<void> hold_and_note(Pool& pool, std::shared_ptr<int> held, std::function<void()> job,
                         bool& went_on) {
  auto call = [held, job = std::move(job)] { job(); };
  (void)co_await pool.run(give(call));
  went_on = true;
}

TEST(Run, a_coroutine_that_is_destroyed_before_its_job_begins_cancels_it) {
  const auto pool = make_pool(1);
  Loop loop;
  Gate gate;
  gate.hold(*pool);
  const auto held = std::make_shared<int>();
  std::atomic<bool> ran = false;
  bool went_on = false;
  {
    auto task = hold_and_note(*pool, held, [&ran] { ran = true; }, went_on);
    EXPECT_FALSE(loop.start(task));
    EXPECT_EQ(loop.expected(), 1u);
  }
  EXPECT_EQ(loop.expected(), 0u);  // the loop may end before the job does
  gate.open();
  pool->stop(StopMode::graceful);
  EXPECT_FALSE(ran);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(pool->snapshot().cancelled, 1u);
}

TEST(Run, a_coroutine_that_is_destroyed_while_its_job_runs_lets_it_finish_and_drops_its_value) {
  const auto pool = make_pool(1);
  const auto held = std::make_shared<int>();
  std::binary_semaphore begun(0), leave(0);
  bool went_on = false;
  {
    Loop loop;
    std::optional task = hold_and_note(
        *pool, held,
        [&] {
          begun.release();
          leave.acquire();
        },
        went_on);
    EXPECT_FALSE(loop.start(*task));
    begun.acquire();
    task.reset();
  }  // the executor is gone, and the job still runs
  leave.release();
  pool->stop(StopMode::graceful);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(pool->snapshot().ran, 1u);
}

TEST(Run, a_coroutine_that_is_destroyed_while_the_message_is_under_way_is_forgotten) {
  const auto pool = make_pool(1);
  Loop loop;
  const auto held = std::make_shared<int>();
  bool went_on = false;
  {
    auto task = hold_and_note(*pool, held, [] {}, went_on);
    EXPECT_FALSE(loop.start(task));
    pool->stop(StopMode::graceful);  // the job has ended, and its message is in the mailbox
    EXPECT_EQ(loop.expected(), 1u);
  }
  EXPECT_EQ(loop.expected(), 1u);
  EXPECT_TRUE(loop.run_messages());
  EXPECT_EQ(loop.expected(), 0u);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(held.use_count(), 1);
}

// An example is a request of a client that has left.
TEST(Run, an_exception_of_a_job_whose_coroutine_is_gone_is_reported) {
  std::vector<std::string> reported;
  const auto pool = make_pool({.threads_min = 1, .on_failure = [&](std::exception_ptr failure) {
                                 reported.push_back(describe(failure));
                               }});
  std::binary_semaphore begun(0), leave(0);
  bool went_on = false;
  const auto held = std::make_shared<int>();
  Loop loop;
  {
    auto task = hold_and_note(
        *pool, held,
        [&] {
          begun.release();
          leave.acquire();
          throw std::runtime_error("while the job ran");
        },
        went_on);
    EXPECT_FALSE(loop.start(task));
    begun.acquire();
  }
  leave.release();
  {
    auto task = hold_and_note(*pool, held, [] { throw std::runtime_error("on its way"); }, went_on);
    EXPECT_FALSE(loop.start(task));
    pool->stop(StopMode::graceful);
  }
  EXPECT_EQ(reported, std::vector<std::string>{"while the job ran"});
  EXPECT_TRUE(loop.run_messages());
  EXPECT_EQ(reported, (std::vector<std::string>{"while the job ran", "on its way"}));
  EXPECT_FALSE(went_on);
}

// Coroutines are destroyed at any moment while workers complete their jobs, and their loop ends
// with whatever is still under way.
TEST(Run, destruction_at_any_moment_is_safe) {
  const auto pool = make_pool(2);
  std::uint32_t random = 12345;
  for (int round = 0; round < 300; ++round) {
    Loop loop;
    std::vector<Task<int>> tasks;
    for (int count = 0; count < 8; ++count) {
      tasks.push_back(sum_of(*pool, 3));
      (void)loop.start(tasks.back());
    }
    while (!tasks.empty()) {
      random = random * 1664525 + 1013904223;
      if ((random >> 16) % 4 == 0) {
        tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>((random >> 20) % tasks.size()));
      } else if ((random >> 16) % 4 == 1) {
        (void)loop.run_messages();
      } else {
        std::this_thread::yield();
      }
    }
  }
  pool->stop(StopMode::graceful);
  const Snapshot shot = pool->snapshot();
  EXPECT_EQ(shot.accepted, shot.ran + shot.cancelled);
}

Task<bool> await_stop(Pool& pool, std::stop_token cancel, std::binary_semaphore& begun) {
  const Result<bool> stopped = co_await pool.run(
      [&begun](std::stop_token token) {
        begun.release();
        while (!token.stop_requested()) std::this_thread::yield();
        return true;
      },
      {.priority = Priority::high}, cancel);
  co_return stopped.value();
}

TEST(Run, a_job_that_is_awaited_can_look_at_a_token) {
  const auto pool = make_pool(1);
  Loop loop;
  std::stop_source source;
  std::binary_semaphore begun(0);
  auto task = await_stop(*pool, source.get_token(), begun);
  EXPECT_FALSE(loop.start(task));
  begun.acquire();
  source.request_stop();
  while (!task.done()) loop.turn();
  EXPECT_TRUE(task.result());
}

TEST(Run, a_coroutine_that_would_block_its_executor_is_told_so_by_an_exception) {
  const auto pool = make_pool(1);
  Loop loop;
  try {
    (void)loop.run(await_code(*pool, {.when_full = WhenFull::wait}));
    FAIL();
  } catch (const std::logic_error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find("WhenFull::wait, which would block the reactor"),
              std::string::npos);
  }
}

TEST(Run, a_coroutine_without_an_executor_is_told_so_by_an_exception) {
  const auto pool = make_pool(1);
  auto task = await_code(*pool, {});
  ASSERT_TRUE(task.start());
  try {
    (void)task.result();
    FAIL();
  } catch (const std::logic_error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find("Pool::run() was awaited on a thread without a"),
              std::string::npos);
  }
}

struct CountTurns : Message {
  explicit CountTurns(int& ends) : Message(&CountTurns::act), turns(ends) {}
  static void act(Message& message) noexcept { ++static_cast<CountTurns&>(message).turns; }
  int& turns;
};

Task<int> count_turns(Pool& pool, int& turns) {
  CountTurns first(turns), second(turns);
  Executor::current()->at_turn_end(first);
  EXPECT_EQ(turns, 0);
  (void)co_await pool.run([] {});
  EXPECT_EQ(turns, 1);
  Executor::current()->at_turn_end(second);
  (void)co_await pool.run([] {});
  co_return turns;
}

TEST(Run, a_loop_s_turn_ends_before_it_waits) {
  const auto pool = make_pool(1);
  Loop loop;
  int turns = 0;
  EXPECT_EQ(loop.run(count_turns(*pool, turns)), 2);
}

// Notes "pool/error@began" of each job.
class NotingObserver final : public RunObserver {
 public:
  Instant now() const noexcept override { return Instant{++ticks_}; }
  void on_run(const RunReport& report) noexcept override {
    notes.push_back(std::string(report.pool) + "/" + std::string(report.error) + "@" +
                    std::to_string(report.began.ns));
    span = current_activity != nullptr ? current_activity->span : nullptr;
  }

  std::vector<std::string> notes;
  const trace::CurrentSpan* span = nullptr;

 private:
  mutable std::int64_t ticks_ = 0;
};

// Never dereferenced: only its address matters here.
const trace::CurrentSpan* some_span() {
  static const int place = 0;
  return reinterpret_cast<const trace::CurrentSpan*>(&place);
}

TEST(Run, an_observer_is_told_once_of_each_job_that_an_activity_with_a_span_awaits) {
  const auto pool = make_pool(1);
  NotingObserver observer;
  pool->observe_runs(&observer);
  Loop loop;
  EXPECT_EQ(loop.run(sum_of(*pool, 3)), 6);
  EXPECT_TRUE(observer.notes.empty()) << "there is no span";
  Activity activity{.span = some_span()};
  const ActivityScope scope(&activity);
  EXPECT_EQ(loop.run(sum_of(*pool, 2)), 3);
  EXPECT_THROW(loop.run(await_failure(*pool)), std::runtime_error);
  using Notes = std::vector<std::string>;
  EXPECT_EQ(observer.notes, (Notes{"test/@1", "test/@2", "test/exception@3"}));
  EXPECT_EQ(observer.span, some_span());
}

TEST(Run, an_observer_is_told_of_a_job_whose_coroutine_is_destroyed_and_of_a_refused_one) {
  const auto pool = make_pool({.name = "test", .threads_min = 1, .queue_max = 1});
  NotingObserver observer;
  pool->observe_runs(&observer);
  Loop loop;
  Gate gate;
  gate.hold(*pool);
  Activity activity{.span = some_span()};
  {
    std::optional<Task<Code>> waiting;
    {
      const ActivityScope scope(&activity);
      waiting.emplace(await_code(*pool));
      EXPECT_FALSE(loop.start(*waiting));
      EXPECT_EQ(loop.run(await_code(*pool)), Code::resource_exhausted);
    }
    waiting.reset();  // outside of the activity
  }
  using Notes = std::vector<std::string>;
  EXPECT_EQ(observer.notes, (Notes{"test/resource exhausted@2", "test/cancelled@1"}));
  EXPECT_EQ(observer.span, some_span()) << "it is told within the activity of the coroutine";
  EXPECT_EQ(current_activity, nullptr);
  gate.open();
}

}  // namespace
}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
