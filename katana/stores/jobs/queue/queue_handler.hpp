// QueueHandler: the function that a process runs for each job of a queue. A coroutine that takes
// the payload as a described struct becomes one by handler_of().
//
// Owns       the function.
// Thread     that of the reactor which runs the queue.
// Allocates  for each job: its payload, and a coroutine's frame.
// Fails      a payload that cannot be read is a failed attempt: another version may read it.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/move_only_function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/stores/jobs/queue/delivery.hpp"
#include "katana/stores/jobs/queue/types.hpp"

namespace katana::queue {

// The function that an attempt calls. An Error, or an exception, is a failed attempt.
using Handler = std::move_only_function<Task<Result<void>>(Delivery&)>;

// One queue, its handler and its options.
struct QueueHandler {
  std::string queue;            // its name: a label of metrics
  Handler handler;              // called for several jobs at a time, up to `concurrency`
  HandlerOptions options = {};  // checked by Worker::check()
};

namespace detail {
Task<Result<void>> failed(Error error);
Task<Result<void>> as_result(Task<void> task);
// `kept` outlives the task.
Task<Result<void>> hold(std::shared_ptr<void> kept, Task<Result<void>> task);
inline Task<Result<void>> as_result(Task<Result<void>> task) { return task; }
}  // namespace detail

// Makes a Handler of a callable that takes (Payload, Delivery&), or a Payload alone, and returns
// Task<void> or Task<Result<void>>. `f` is not moved during a call of it.
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

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
