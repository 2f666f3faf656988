// Concurrency limits: a number of requests at a time, a queue for some more, and 503 for the rest.
//
//   api.use(concurrency_limit({.running_max = 16}));   // for all routes that are added after it
//
// A request is running from here until its reply is complete and its work has ended. A handler that
// continues after its client has left (identity/idempotency) keeps its place. A request that became
// a WebSocket connection keeps it as well. Waiting requests are served in their order, on whichever
// reactor they arrived, and wait at most wait_max.
//
// When the queue has not been empty for busy_after, new requests wait at most busy_wait_max
// instead. A queue that never empties would make every reply late ("controlled delay").
//
// Owns       the queue, shared by all reactors, and the state of each waiting request.
// Thread     any reactor; one lock, held for some ten nanoseconds, twice a request.
// Allocates  from the recycler, for each waiting request.
// Fails      503 with Retry-After when the queue is full, or the wait too long.
// Invariant  at most running_max requests are running, and at most waiting_max waiting. After set()
//            has lowered a limit, the number above it only falls.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/middleware/concurrency_limit_options.hpp"

namespace katana {

// Numbers of running, waiting and refused requests.
struct ConcurrencyStatistics {
  std::uint32_t running = 0;       // now; above running_max only after set() lowered it
  std::uint32_t waiting = 0;       // now; likewise
  std::uint64_t refused_full = 0;  // since the start
  std::uint64_t refused_late = 0;  // since the start: the wait was too long
};

namespace detail {

class ConcurrencyQueue;

}  // namespace detail

// A running request. A handler takes it as FromContext<RunningRequest> and passes it to a task that
// it spawns: the task then keeps the place.
class RunningRequest {
 public:
  static constexpr bool is_place = true;  // see request_context.hpp
  RunningRequest(RunningRequest&&) = default;
  RunningRequest& operator=(RunningRequest&&) = delete;
  ~RunningRequest();

 private:
  friend class ConcurrencyLimit;
  explicit RunningRequest(std::shared_ptr<detail::ConcurrencyQueue> queue) noexcept
      : queue_(std::move(queue)) {}
  std::shared_ptr<detail::ConcurrencyQueue> queue_;
};

// Middleware; copies share one limit.
class ConcurrencyLimit {
 public:
  // As middleware it may run behind a response cache: Middleware::limits_work.
  static constexpr bool limits_work = true;

  explicit ConcurrencyLimit(const ConcurrencyLimitOptions& options);
  Task<std::expected<RunningRequest, Reply>> operator()() const;
  // The figures of all reactors. Any thread.
  ConcurrencyStatistics statistics() const;
  // Sets the limits for requests from now on. A raised running_max admits waiting requests, a
  // lowered one is reached as requests end. Any thread. REQUIRES running_max of 1 or more.
  void set(const ConcurrencyLimitOptions& options);

 private:
  std::shared_ptr<detail::ConcurrencyQueue> queue_;
};

// Makes the middleware for use(); copies share the limit and its figures.
inline ConcurrencyLimit concurrency_limit(const ConcurrencyLimitOptions& options = {}) {
  return ConcurrencyLimit(options);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
