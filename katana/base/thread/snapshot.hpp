// Snapshot, Histogram: the counters and the state of a pool, as plain values.
//
// Owns       values only.
// Thread     a value; taken from any thread by Pool::snapshot().
// Allocates  the pool's name.
// Fails      never.
// Invariant  every count only grows, except those "at present". Counts are read one after another
//            while the pool works, and sums of them may therefore be inexact. For a stopped pool
//            they are exact: accepted == ran + failed + cancelled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/thread/pool_options.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/log_scale.hpp"

namespace katana::thread {

// Durations by powers of two: bucket n counts those below 2^n ns and not below 2^(n-1) ns.
struct Histogram {
  static constexpr std::size_t buckets_max = 48;  // the last one begins at 39 hours

  std::array<std::uint64_t, buckets_max> buckets{};  // number of durations in each bucket
  std::uint64_t count = 0;                           // number of durations in all buckets
  Duration sum = {};                                 // sum of all durations

  // The bucket of a duration; negative durations are in bucket 0.
  static std::size_t bucket_of(Duration value) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(value.ns, 0));
    return std::min(log_bucket(ns, 0), buckets_max - 1);
  }
  // The upper bound of a bucket: all its values are below it.
  static constexpr Duration bound_of(std::size_t bucket) noexcept {
    return {static_cast<std::int64_t>(log_lower(bucket + 1, 0))};
  }
  Duration mean() const noexcept {
    return count == 0 ? Duration{} : Duration{sum.ns / static_cast<std::int64_t>(count)};
  }
  // A duration below which at least `share` of the values lie, exact to a factor of two.
  Duration quantile(double share) const noexcept {
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets_max; ++bucket) {
      seen += buckets[bucket];
      if (seen != 0 && static_cast<double>(seen) >= share * static_cast<double>(count)) {
        return bound_of(bucket);
      }
    }
    return {};
  }
};

struct Snapshot {
  std::string name;                                    // of the pool
  unsigned threads = 0;                                // at present
  unsigned threads_parked = 0;                         // of these, asleep; at present
  std::array<std::uint64_t, priority_count> queued{};  // by priority; at present
  std::uint64_t timed_waiting =
      0;  // delayed and periodic jobs that wait for their time; at present

  std::uint64_t accepted = 0;        // jobs that the pool took
  std::uint64_t ran = 0;             // jobs that a worker called, failed ones included
  std::uint64_t failed = 0;          // ran, and ended with an exception
  std::uint64_t cancelled = 0;       // accepted, and not run: by its token, its future, or stop()
  std::uint64_t refused = 0;         // full or stopped
  std::uint64_t ran_here = 0;        // run by the submitting thread; not among `accepted`
  std::uint64_t failed_here = 0;     // the part of ran_here that ended with an exception
  std::uint64_t stolen = 0;          // claimed by one worker and run by another
  std::uint64_t wakes = 0;           // number of times that a sleeping worker was woken
  std::uint64_t scaled_up = 0;       // workers that were added
  std::uint64_t scaled_down = 0;     // workers that were removed
  std::uint64_t scale_failures = 0;  // the system had no thread for one more worker
  std::uint64_t timed_missed = 0;    // turns skipped because the turn before had not ended

  Duration busy = {};  // working time of all workers, including their present jobs
  Histogram wait;      // from submission to begin, of one job in `timed_one_in`
  Histogram run;       // from begin to end, of the same jobs

  // The sum over all priorities.
  std::uint64_t queued_total() const noexcept { return queued[0] + queued[1] + queued[2]; }
};

// The report of stop().
struct StopReport {
  std::uint64_t ran = 0;                                // since the pool began, failures included
  std::uint64_t cancelled = 0;                          // since the pool began
  std::array<std::uint64_t, priority_count> not_run{};  // accepted, and cancelled by this stop
  std::uint64_t timed_not_run = 0;  // delayed and periodic jobs that waited for their time

  // The sum over all priorities.
  std::uint64_t not_run_total() const noexcept { return not_run[0] + not_run[1] + not_run[2]; }
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
