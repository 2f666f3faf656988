// Delivery: one attempt at a job, as its handler sees it.
//
//   Task<Result<void>> send(Welcome job, queue::Delivery& delivery) {
//     auto sent = co_await mail.send(job.user, delivery.id(), delivery.fence());
//     if (!sent && sent.error().code() == Code::not_found) delivery.give_up();   // no retry
//     co_return sent;
//   }
//
// A job is done at least once. The same job comes again after a failure, and after its worker lost
// the lease without knowing it. Each claim raises fence(): a store that a job writes to can refuse
// a fence below the highest one that it has seen.
//
// A job whose work is a transaction of the queue's database is done exactly once by complete_in().
//
// Owns       the payload, and the state of the attempt.
// Borrows    the table, which outlives it.
// Thread     its worker's reactor.
// Allocates  as the database's calls do.
// Fails      complete_in(): aborted with Code::cancelled when the lease is lost; roll back then.
// Invariant  is_stopped() is never taken back.
#pragma once

#include <stop_token>
#include <string>
#include <utility>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/jobs/queue/job_table.hpp"

namespace katana::queue {

// The reason why a handler has to stop.
enum class Stopped : std::uint8_t {
  no,          // it may go on
  lease_lost,  // another worker may have the job by now: what this one writes may be a duplicate
  draining,    // the program ends, and the job is given back
};

class Delivery : public ListHook<Delivery> {
 public:
  Delivery(JobTable& table, const std::string& queue, ClaimedJob job, bool keeps_done)
      : table_(table), queue_(queue), job_(std::move(job)), keeps_done_(keeps_done) {}
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  // The name of the queue, as the worker was given it.
  const std::string& queue() const noexcept { return queue_; }
  // The id of the job's row: the same in each attempt.
  std::int64_t id() const noexcept { return job_.id; }
  // Grows with each claim of the job. A store that the job writes to has to refuse a lower one than
  // it has seen.
  std::int64_t fence() const noexcept { return job_.fence; }
  // The number of this attempt, from 1 on.
  std::int64_t attempt() const noexcept { return job_.attempts; }
  const std::string& payload() const noexcept { return job_.payload; }
  // The id of the request that queued the job; empty: none did.
  const std::string& request_id() const noexcept { return job_.request_id; }
  // The span that queued it, as traceparent; empty: none did.
  const std::string& producer_trace() const noexcept { return job_.trace; }

  // The handler is to end soon: HandlerOptions::stop_grace later it is cancelled.
  Stopped stopped() const noexcept { return why_; }
  bool is_stopped() const noexcept { return why_ != Stopped::no; }
  // For work on other threads.
  std::stop_token stop_token() const noexcept { return stop_.get_token(); }
  AsyncEvent::Waiter until_stopped() noexcept { return stopped_.wait(); }

  // A failure of this attempt is the last one: the job is a dead letter.
  void give_up() noexcept { gives_up_ = true; }
  // After a failure of this attempt the job waits for `pause`.
  void retry_after(Duration pause) noexcept { retry_after_ = pause; }

  // The job is done when this transaction is committed, and not otherwise. The handler commits and
  // succeeds, or rolls back and fails.
  Task<Result<void>> complete_in(const database::Nestable& transaction) {
    const database::Queries& queries = transaction;
    return complete(queries);
  }

  // ---- for the worker
  Lease lease() const noexcept { return {job_.id, job_.fence}; }
  Duration waited() const noexcept { return Duration{job_.waited_us * 1000}; }
  bool gives_up() const noexcept { return gives_up_; }
  Duration pause_wanted() const noexcept { return retry_after_; }
  bool is_completed_within() const noexcept { return completed_within_; }
  void stop(Stopped why) noexcept {
    if (why_ != Stopped::no) return;
    why_ = why;
    stop_.request_stop();
    stopped_.set();
  }
  Instant lease_until = {};  // of the reactor's clock, and no later than the row's

 private:
  Task<Result<void>> complete(database::Queries in);

  JobTable& table_;
  const std::string& queue_;
  const ClaimedJob job_;
  const bool keeps_done_;
  bool gives_up_ = false;
  bool completed_within_ = false;
  Duration retry_after_ = {};
  Stopped why_ = Stopped::no;
  std::stop_source stop_;
  AsyncEvent stopped_;
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
