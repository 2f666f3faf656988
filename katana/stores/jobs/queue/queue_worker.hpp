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
// Borrows    the queue, and what start() is given, until stop().
// Thread     one, while the reactor does not run.
// Allocates  at the start, and for each job.
// Fails      check() and start() name the queue.
// Invariant  a job is called with a payload that was read whole; one that cannot be read is a
//            failed attempt, for another version of the program may read it.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/data/container/json_read.hpp"
#include "katana/stores/jobs/queue/queue_runner.hpp"

namespace katana::queue {

namespace detail {
Task<Result<void>> failed(Error error);
Task<Result<void>> as_result(Task<void> task);
// `kept` outlives the task.
Task<Result<void>> hold(std::shared_ptr<void> kept, Task<Result<void>> task);
inline Task<Result<void>> as_result(Task<Result<void>> task) { return task; }
}  // namespace detail

// Of what takes (Payload, Delivery&), or a Payload alone, and gives Task<void> or
// Task<Result<void>>. `f` stays where it is while a call of it lasts.
template <Described Payload, class F>
Handler handler_of(F f) {
  return [f = std::move(f)](Delivery& delivery) mutable -> Task<Result<void>> {
    auto read = container::read_json<Payload>(delivery.payload());
    if (!read) return detail::failed(read.error().within("the job's payload"));
    const auto payload = std::make_shared<Payload>(*std::move(read));
    if constexpr (std::invocable<F&, Payload, Delivery&>) {
      return detail::hold(payload, detail::as_result(f(std::move(*payload), delivery)));
    } else {
      static_assert(std::invocable<F&, Payload>,
                    "a handler of a queue takes (Payload, queue::Delivery&), or the payload alone");
      return detail::hold(payload, detail::as_result(f(std::move(*payload))));
    }
  };
}

// What start() borrows of the process, and who this worker is.
struct WorkerPlace {
  metrics::Registry& metrics;              // gets the instruments of each queue
  FailureObserver* failures = nullptr;     // null: the reactor's
  std::optional<std::uint64_t> seed = {};  // of jitter; none: by chance
  std::optional<std::string> worker = {};  // none: a name by chance
};

class Worker {
 public:
  explicit Worker(JobQueue& queue) noexcept : queue_(queue) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Before start().
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
  // Jobs that run at present.
  std::size_t running() const noexcept;

 private:
  JobQueue& queue_;
  std::vector<std::unique_ptr<QueueHandler>> handlers_;
  std::vector<std::unique_ptr<QueueRunner>> runners_;
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
