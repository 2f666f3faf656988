// PoolOptions, JobOptions, RunOptions: the options of a pool, and those of one job. RunObserver: is
// told of awaited jobs.
//
// Owns       values only.
// Thread     values.
// Fails      Pool::create() names the wrong option and its allowed values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::thread {

class ManualClock;

// The priority of a job. Workers prefer a higher one, and sometimes take the lowest first. Each
// priority has a queue.
enum class Priority : std::uint8_t { high, normal, low };
inline constexpr std::size_t priority_count = 3;  // for arrays by Priority

// The behaviour of a submission when the queue of its priority is full.
enum class WhenFull : std::uint8_t {
  fail,      // the job is refused
  wait,      // the submitting thread sleeps until there is room; a worker of the pool: run_here
  run_here,  // the submitting thread runs the job itself
};

struct JobOptions {
  Priority priority = Priority::normal;  // of its queue among those of the pool
  WhenFull when_full = WhenFull::fail;   // behaviour when the queue is full
  // The job is cancelled if the token is asked to stop before the job begins. A callable that takes
  // a std::stop_token gets this one, and may check it while it runs.
  std::stop_token cancel = {};
};

// Options of a job that a coroutine awaits. The token is a separate argument (see run.hpp).
// WhenFull::wait would block the executor.
struct RunOptions {
  Priority priority = Priority::normal;  // of its queue among those of the pool
  WhenFull when_full = WhenFull::fail;   // not WhenFull::wait
};

// The pool adds and removes workers by the share of their time that they work. Between the two
// limits nothing changes. A share must stay beyond a limit for a number of intervals.
struct AutoscaleOptions {
  double scale_up_share = 0.8;    // a worker is added above it
  double scale_down_share = 0.2;  // at most half of scale_up_share, so that one step cannot swing
  Duration interval = milliseconds(100);  // between two checks of the share
  unsigned scale_up_intervals = 1;        // intervals that the share must be above scale_up_share
  unsigned scale_down_intervals = 20;     // intervals that it must be below scale_down_share
};

// The end of a job that a coroutine awaited.
struct RunReport {
  std::string_view pool;   // PoolOptions::name
  Instant began = {};      // by RunObserver::now(): the job was submitted
  std::string_view error;  // empty: it ran; otherwise "exception", "cancelled", or a code's name
};

// Records awaited jobs, such as for a trace. Its calls come on the thread of the coroutine, and in
// its activity.
class RunObserver {
 public:
  // The time by the clock of its records.
  virtual Instant now() const noexcept = 0;
  // The coroutine has the outcome, or it was destroyed while it waited.
  virtual void on_run(const RunReport& report) noexcept = 0;

 protected:
  ~RunObserver() = default;
};

struct PoolOptions {
  std::string name = "pool";  // name in errors and of threads (15 characters of NAME/3 are shown)
  unsigned threads_min = 0;   // 0: the number of CPUs that the process may use
  unsigned threads_max = 0;   // 0: threads_min. Above it, the pool scales between the two.
  AutoscaleOptions autoscale = {};    // used if threads_max is above threads_min
  std::size_t queue_max = 16 * 1024;  // jobs of each priority; rounded up to a power of two
  std::vector<int> cpus = {};         // worker n is pinned to cpus[n % size]; empty: not pinned
  // The pool measures the wait and the run of one job in this number, which is a power of two. 1
  // measures each job, at a cost of some 50 ns.
  std::size_t timed_one_in = 32;
  // Called with the exception of a job without a waiter, or of a job whose outcome was not taken.
  // The call comes on the worker, or on the thread that dropped the future. The pool counts the
  // failure in any case. Empty: the pool prints a line on standard error, at most one in a second,
  // with the number of suppressed ones.
  std::function<void(std::exception_ptr)> on_failure = {};
  ManualClock* clock = nullptr;  // null: the machine's monotonic clock. Borrowed.
  bool stopped = false;          // as after stop(): no thread starts, no job is accepted
};

inline constexpr unsigned threads_limit = 1024;                   // largest threads_max
inline constexpr std::size_t queue_limit = std::size_t{1} << 24;  // largest queue_max

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
