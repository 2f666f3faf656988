// Worker: the queues that a process works, each with its own handler.
//
//   queue::Worker worker(queue);
//   worker.handle<Welcome>("welcome", [&](Welcome job, queue::Delivery&) -> Task<Result<void>> {
//     co_return co_await mail.send(job.user);
//   }, {.concurrency = 4});
//   auto started = worker.start(reactor, {.metrics = registry});
//
// Each queue has its own claims and its own bound, so a backlog of one does not keep another
// waiting. A queue that no process handles keeps its jobs.
//
// Owns       handlers and runners.
// Borrows    the queue, and the arguments of start(), until stop().
// Thread     one, while the reactor does not run.
// Allocates  at the start, and for each job.
// Fails      check() and start() name the queue.
// Invariant  a handler is called with a payload that was read whole. A payload that cannot be read
//            is a failed attempt, because another version of the program may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/failure.hpp"
#include "katana/base/system/result.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"
#include "katana/stores/jobs/queue/queue_handler.hpp"

namespace katana::metrics {
class Registry;
}
namespace katana::net {
class Reactor;
}
namespace katana::trace {
class Tracer;
}

namespace katana::queue {

class QueueRunner;

// The objects of the process that start() borrows, and the worker's name.
struct WorkerPlace {
  metrics::Registry& metrics;              // gets the instruments of each queue
  FailureObserver* failures = nullptr;     // null: the reactor's
  std::optional<std::uint64_t> seed = {};  // of jitter; none: by chance
  std::optional<std::string> worker = {};  // none: a name by chance
  trace::Tracer* tracer = nullptr;         // null: attempts have no spans
};

class Worker {
 public:
  explicit Worker(JobQueue& queue) noexcept;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Adds the handler of a queue; call it before start().
  template <Described Payload, class F>
  void handle(std::string queue, F f, HandlerOptions options = {}) {
    add({std::move(queue), handler_of<Payload>(std::move(f)), options});
  }
  void add(QueueHandler handler);
  bool empty() const noexcept { return handlers_.empty(); }
  std::vector<std::unique_ptr<QueueHandler>>& handlers() noexcept { return handlers_; }

  // An Error: options are out of their bounds, or a queue has two handlers.
  Result<void> check() const;
  // Checks, registers the metrics, and begins with the reactor's next turn.
  // After an Error call stop(): some queues may have begun.
  Result<void> start(net::Reactor& reactor, const WorkerPlace& place);
  // REQUIRES that the reactor has drained, or its tasks are cancelled.
  void stop() noexcept;
  // The number of jobs that run at present.
  std::size_t running() const noexcept;

 private:
  JobQueue& queue_;
  std::vector<std::unique_ptr<QueueHandler>> handlers_;
  std::vector<std::unique_ptr<QueueRunner>> runners_;  // refer to the handlers
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
