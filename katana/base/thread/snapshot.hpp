// Snapshot, Histogram: what a pool has done and is doing, as plain values.
//
// Owns       values only.
// Thread     a value; taken from any thread by Pool::snapshot().
// Allocates  the pool's name.
// Fails      never.
// Invariant  every count but those "at present" only grows. Counts are read one after another while
//            the pool goes on, so sums of them may be off by what happened meanwhile; of a stopped
//            pool they are exact: accepted == ran + failed + cancelled.
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
  std::uint64_t count = 0;                           // of all buckets
  Duration sum = {};                                 // of all durations

  // Negative durations are in bucket 0.
  static std::size_t bucket_of(Duration value) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(value.ns, 0));
    return std::min(log_bucket(ns, 0), buckets_max - 1);
  }
  // What every value of a bucket is below.
  static constexpr Duration bound_of(std::size_t bucket) noexcept {
    return {static_cast<std::int64_t>(log_lower(bucket + 1, 0))};
  }
  Duration mean() const noexcept {
    return count == 0 ? Duration{} : Duration{sum.ns / static_cast<std::int64_t>(count)};
  }
  // A duration that at least `share` of the values are below, to a factor of two.
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
  std::uint64_t ran_here = 0;        // by the thread that submitted them; not among `accepted`
  std::uint64_t failed_here = 0;     // of these, ended with an exception
  std::uint64_t stolen = 0;          // claimed by one worker and run by another
  std::uint64_t wakes = 0;           // how often a sleeping worker was woken
  std::uint64_t scaled_up = 0;       // workers that were added
  std::uint64_t scaled_down = 0;     // workers that were removed
  std::uint64_t scale_failures = 0;  // the system had no thread for one more worker
  std::uint64_t timed_missed = 0;    // turns of periodic jobs that the turn before was still in

  Duration busy = {};  // summed over the workers, the job that each is in at present included
  Histogram wait;      // from submission to its begin; one job in `timed_one_in`
  Histogram run;       // from its begin to its end; the same jobs

  // The sum over all priorities.
  std::uint64_t queued_total() const noexcept { return queued[0] + queued[1] + queued[2]; }
};

// What stop() found.
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
