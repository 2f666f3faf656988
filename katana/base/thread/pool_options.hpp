// PoolOptions, JobOptions, RunOptions: what a pool is, and how a job wants to be treated.
//
// Owns       values only.
// Thread     values.
// Fails      Pool::create() says which option is wrong and what it may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::thread {

class ManualClock;

// Workers prefer a higher priority, and take the lowest first now and then. Each has its own queue.
enum class Priority : std::uint8_t { high, normal, low };
inline constexpr std::size_t priority_count = 3;  // for arrays by Priority

// What a submission does when the queue of its priority is full.
enum class WhenFull : std::uint8_t {
  fail,      // it is refused
  wait,      // its thread sleeps until there is room; on a worker of the same pool: run_here
  run_here,  // its thread runs the job itself
};

struct JobOptions {
  Priority priority = Priority::normal;  // of its queue among those of the pool
  WhenFull when_full = WhenFull::fail;   // what the submitting thread does
  // A job whose token was asked to stop before it begins is cancelled. A callable that takes a
  // std::stop_token is given this one, to look at while it runs.
  std::stop_token cancel = {};
};

// For a job that a coroutine awaits; its token is its own argument (see run.hpp).
// WhenFull::wait would block the executor.
struct RunOptions {
  Priority priority = Priority::normal;  // of its queue among those of the pool
  WhenFull when_full = WhenFull::fail;   // not WhenFull::wait
};

// Adds and removes workers by the share of their time that they work. Between the two shares
// nothing changes, and a share has to stay beyond one of them for a number of intervals.
struct AutoscaleOptions {
  double scale_up_share = 0.8;    // a worker is added above it
  double scale_down_share = 0.2;  // at most half of scale_up_share, so that one step cannot swing
  Duration interval = milliseconds(100);  // between two looks at the shares
  unsigned scale_up_intervals = 1;        // that the share must be above scale_up_share
  unsigned scale_down_intervals = 20;     // that the share must be below scale_down_share
};

struct PoolOptions {
  std::string name = "pool";  // of its threads (15 characters of NAME/3 are shown) and its errors
  unsigned threads_min = 0;   // 0: as many as the process may use CPUs
  unsigned threads_max = 0;   // 0: threads_min. Above it, the pool scales between the two.
  AutoscaleOptions autoscale = {};    // used if threads_max is above threads_min
  std::size_t queue_max = 16 * 1024;  // jobs of each priority; rounded up to a power of two
  std::vector<int> cpus = {};         // worker n is pinned to cpus[n % size]; empty: not pinned
  // One job in so many has its wait and its run measured; a power of two. 1 measures each, for
  // some 50 ns.
  std::size_t timed_one_in = 32;
  // Called with what a job threw that nobody waits for, or whose outcome was not taken: on the
  // worker, or on the thread that dropped the future. Counted in any case. Empty:
  // a line on standard error, at most one in a second, with the number of those left out.
  std::function<void(std::exception_ptr)> on_failure = {};
  ManualClock* clock = nullptr;  // null: the machine's monotonic clock. Borrowed.
  bool stopped = false;          // as after stop(): no thread is started, no job accepted
};

inline constexpr unsigned threads_limit = 1024;                   // largest threads_max
inline constexpr std::size_t queue_limit = std::size_t{1} << 24;  // largest queue_max

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
