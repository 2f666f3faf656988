// Types of the job queue: options of a queued job, the rows of list(), and options of a handler.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      check() names the option and its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::queue {

// Limit of a queue's name, which is a label of metrics.
inline constexpr std::size_t name_bytes_max = 64;
inline constexpr std::size_t key_bytes_max = 255;
inline constexpr std::size_t failure_bytes_max = 1000;  // of a failure, as its row keeps it
inline constexpr int priority_max = 100;                // and -100 the lowest
// A job with one priority more goes ahead of jobs that were due up to this much earlier. Therefore
// no priority keeps other jobs waiting for ever.
inline constexpr Duration priority_step = seconds(60);

// Rows have these numbers, so their order does not change.
enum class JobState : std::uint8_t {
  waiting,  // for its time, or for a worker
  running,  // a worker has its lease
  done,     // kept for HandlerOptions::done_kept
  dead,     // failed for good: a dead letter
};
KATANA_DESCRIBE_ENUM(JobState, waiting, running, done, dead)

// The time for which a job keeps others with the same key out of its queue.
enum class KeyLasts : std::uint8_t {
  until_begun,    // what is queued while it runs is another job
  until_done,     // or dead
  until_removed,  // for HandlerOptions::done_kept longer
};

// Options of one job.
struct EnqueueOptions {
  Duration delay = {};   // not begun before
  int priority = 0;      // -100 to 100; see priority_step
  std::string key = {};  // the first of several jobs with one key is queued; empty: none
  KeyLasts key_lasts = KeyLasts::until_done;  // no effect without a key

  // An Error: the delay is negative, or the priority or the key is out of its bounds.
  Result<void> check() const;
};

// The result of enqueue(); in a transaction it holds once that is committed.
struct Enqueued {
  std::int64_t id = 0;  // of the row, as Delivery::id()
  bool is_new = true;   // false: the id is that of the job that has the key
};

// A job as list() shows it.
struct JobInfo {
  std::int64_t id = 0;                 // for retry() and discard(); grows
  std::string queue;                   // that list() was asked for
  JobState state = JobState::waiting;  // when it was listed
  std::int64_t priority = 0;           // as it was queued: -100 to 100
  std::int64_t attempts = 0;           // claims that count: those given back do not
  std::int64_t queued_us = 0;          // since 1970, as are the others
  std::int64_t due_us = 0;             // when it may begin: after a failure, the next attempt
  std::int64_t until_us = 0;           // running: the end of its lease; done, dead: when it ended
  std::string failure;                 // of the last attempt; empty: none has failed
  std::string request_id;              // of the request that queued it
  std::string payload;                 // JSON
};
KATANA_DESCRIBE(JobInfo, id, queue, state, priority, attempts, queued_us, due_us, until_us, failure,
                request_id, payload)

// Options of the handler of one queue in one process.
struct HandlerOptions {
  unsigned concurrency = 8;         // jobs at a time, in this process
  unsigned attempts_max = 16;       // claims of a job; after the last that fails it is dead
  Duration timeout = seconds(300);  // of one attempt, which is then cancelled and has failed
  // The time for which a job of a dead process is kept from others. Renewed while its handler runs.
  Duration lease = seconds(30);
  // The pause of a job after a failure; doubled after each further one, up to backoff_max; shorter
  // by up to a half, by chance.
  Duration backoff_min = seconds(1);
  Duration backoff_max = seconds(3600);
  // Between two looks without a notification of a job; a fifth more or less, by chance.
  Duration poll = seconds(1);
  // The time for which a handler may go on after it was told to stop, before it is cancelled.
  Duration stop_grace = seconds(1);
  // The time for which jobs may go on when the program ends. They are then told to stop, and given
  // back.
  Duration drain_grace = seconds(5);
  // The times for which done jobs and dead letters are kept, and the largest number of each. Zero:
  // done jobs are removed at once.
  Duration done_kept = {};
  Duration dead_kept = seconds(14 * 24 * 3600);
  std::uint32_t done_max = 100'000;
  std::uint32_t dead_max = 10'000;

  // The Error names `queue`.
  Result<void> check(const std::string& queue) const;
};

// Checks that a name has only letters, digits, '-', '_' and '.', and at most name_bytes_max bytes.
Result<void> check_name(const std::string& queue);
// The pause after `failures` in a row, at least 1. `random` spreads it over its second half.
Duration backoff_of(const HandlerOptions& options, std::uint64_t failures,
                    std::uint64_t random) noexcept;

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
