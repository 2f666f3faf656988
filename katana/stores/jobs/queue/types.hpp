// What the job queue is told and tells: how a job is queued, what a row of it says, how a queue is
// worked.
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

// Of the name of a queue, which is a label of metrics.
inline constexpr std::size_t name_bytes_max = 64;
inline constexpr std::size_t key_bytes_max = 255;
inline constexpr std::size_t failure_bytes_max = 1000;  // of a failure, as its row keeps it
inline constexpr int priority_max = 100;                // and -100 the lowest
// A job of one priority more is ahead of those that were due so much earlier. So no priority keeps
// another from its turn for ever.
inline constexpr Duration priority_step = seconds(60);

// The row has the number of it, so the order stays.
enum class JobState : std::uint8_t {
  waiting,  // for its time, or for a worker
  running,  // a worker has its lease
  done,     // kept for HandlerOptions::done_kept
  dead,     // failed for good: a dead letter
};
KATANA_DESCRIBE_ENUM(JobState, waiting, running, done, dead)

// How long a job's key keeps another one with the same key out of its queue.
enum class KeyLasts : std::uint8_t {
  until_begun,    // what is queued while it runs is another job
  until_done,     // or dead
  until_removed,  // for HandlerOptions::done_kept longer
};

// Of one job.
struct EnqueueOptions {
  Duration delay = {};   // not begun before
  int priority = 0;      // -100 to 100; see priority_step
  std::string key = {};  // of several jobs with one key the first is queued; empty: none
  KeyLasts key_lasts = KeyLasts::until_done;  // nothing without a key

  // An Error: the delay is negative, or the priority or the key is out of its bounds.
  Result<void> check() const;
};

// What enqueue() gives; in a transaction it is true once that is committed.
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

// How one queue is worked by one process.
struct HandlerOptions {
  unsigned concurrency = 8;         // jobs at a time, in this process
  unsigned attempts_max = 16;       // claims of a job; after the last that fails it is dead
  Duration timeout = seconds(300);  // of one attempt, which is then cancelled and has failed
  // A process that dies keeps a job from the others for so long. Renewed while its handler runs.
  Duration lease = seconds(30);
  // After a failure the job waits for backoff_min, after each further one for twice as long, up to
  // backoff_max; less up to a half, by chance.
  Duration backoff_min = seconds(1);
  Duration backoff_max = seconds(3600);
  // Between two looks without a notification of a job; a fifth more or less, by chance.
  Duration poll = seconds(1);
  // How long a handler that was told to stop may go on before it is cancelled.
  Duration stop_grace = seconds(1);
  // When the program ends: how long jobs may go on before they are told to stop and given back.
  Duration drain_grace = seconds(5);
  // How long done jobs and dead letters are kept, and how many of each at most. Zero: done jobs are
  // removed at once.
  Duration done_kept = {};
  Duration dead_kept = seconds(14 * 24 * 3600);
  std::uint32_t done_max = 100'000;
  std::uint32_t dead_max = 10'000;

  // `queue` is named by the Error.
  Result<void> check(const std::string& queue) const;
};

// Letters, digits, '-', '_', '.', at most name_bytes_max.
Result<void> check_name(const std::string& queue);
// After `failures` in a row, at least 1. `random` spreads it over the second half of the time.
Duration backoff_of(const HandlerOptions& options, std::uint64_t failures,
                    std::uint64_t random) noexcept;

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
