// QueueRunner: works one queue on one reactor. It claims jobs, runs their handler, renews their
// leases, and notes how they ended. It also looks after leases that other workers left.
//
//   claim a batch ─▶ run each ─▶ done │ retry later │ dead letter │ given back
//        ▲               │ every third of a lease: renew all that run; one that is not renewed in
//        └── free places ┘ time is told to stop
//
// Owns       its timer, its coroutines and the deliveries that run.
// Borrows    the queue, the reactor, the observer and the instruments' registry, which outlive it.
// Thread     its reactor's; made, started and destroyed also by another while that does not run.
// Allocates  for each job: its payload, and frames of coroutines.
// Fails      never: a failure is told to the observer with its cause, and counted. While the
//            database does not answer it is asked again after `poll`.
// Invariant  at most `concurrency` jobs run. A job is claimed only when there is a place for it:
//            none waits here while another process could do it. A reactor that drains claims none.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/memory/linked_list.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/values/random.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/task_scope.hpp"
#include "katana/stores/jobs/queue/delivery.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"
#include "katana/stores/jobs/queue/queue_handler.hpp"
#include "katana/stores/jobs/queue/queue_instruments.hpp"

namespace katana::trace {
class SpanRecord;
class Tracer;
}  // namespace katana::trace

namespace katana::queue {

// Options that a Worker gives each of its runners.
struct QueueRunnerOptions {
  FailureObserver* failures = nullptr;  // null: the reactor's
  std::uint64_t seed = 1;               // of jitter
  std::string worker;                   // a name that no other worker has or had
  trace::Tracer* tracer = nullptr;      // null: attempts have no spans
};

class QueueRunner final : private net::TimerEntry {
 public:
  // REQUIRES that the handler's options are checked.
  QueueRunner(net::Reactor& reactor, JobQueue& queue, QueueHandler& handler,
              QueueInstruments instruments, QueueRunnerOptions options);
  // REQUIRES that the reactor has drained, or its tasks are cancelled.
  ~QueueRunner();

  // Works from the reactor's next turn on.
  void start() noexcept;
  std::size_t running() const noexcept { return deliveries_.size(); }

 private:
  struct Attempt {
    Result<void> result;
    std::exception_ptr thrown;
  };
  class Ends;
  class Running;

  void on_time() noexcept;
  Task<void> run();
  Task<void> work();
  Task<void> claim();
  Task<void> wait(Duration duration);
  Task<void> await_signal();
  Task<void> await_places();
  Task<void> drain();
  Task<void> look_after_leases();
  Task<bool> renew(Duration soon);
  void note_renewed(const std::vector<std::int64_t>& asked_for, const std::vector<Lease>* renewed,
                    Instant lease_until, Instant last) noexcept;
  Task<void> look_after_table();
  Task<void> clean();
  void begin(ClaimedJob job, Instant lease_until);

  Task<void> attempt(ClaimedJob job, Instant lease_until);
  Task<Result<void>> call(Delivery& delivery);
  void add_attributes(trace::SpanRecord& record, const Delivery& delivery) const noexcept;
  Task<Result<void>> until_stopped(Delivery& delivery);
  Task<Ended> conclude(Delivery& delivery, Attempt ended);
  Task<database::Result<bool>> note_end(Delivery& delivery, Ended how, std::string cause);
  Ended outcome_of(const Delivery& delivery, const Attempt& ended) const noexcept;

  bool draining() const noexcept { return reactor_.draining(); }
  std::size_t places() const noexcept { return handler_.options.concurrency - deliveries_.size(); }
  Duration jittered(Duration duration) noexcept;
  void on_place_free() noexcept;
  void note_failure(const database::Error& error, const char* what) noexcept;
  void note_success() noexcept { failed_in_a_row_ = 0; }
  void tell(const Failure& failure) const noexcept;

  net::Reactor& reactor_;
  JobQueue& queue_;
  QueueHandler& handler_;
  const QueueInstruments instruments_;
  const QueueRunnerOptions options_;
  const std::string place_;  // "queue welcome"
  Random random_;
  const std::shared_ptr<Waker> waker_;
  LinkedList<Delivery> deliveries_;
  AsyncEvent signal_;
  bool woken_ = false;             // somebody said that there are jobs
  bool more_ = true;               // the last claim was full
  std::size_t places_wanted_ = 1;  // that end await_places()
  unsigned failed_in_a_row_ = 0;
  bool started_ = false;
  bool active_ = false;
  net::TaskScope attempts_;
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
