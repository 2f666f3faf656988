// Concurrency limits: so many requests at a time, a queue for some more, and 503 for the rest.
//
//   api.use(concurrency_limit({.running_max = 16}));   // of all routes that are added after it
//
// A request is running from here until its reply is complete and its work has ended: a handler that
// goes on when its client has left (identity/idempotency) keeps its place, and so does a WebSocket
// connection that the request became. Those that wait are served in their order, whichever reactor
// they came to, and wait at most wait_max. When the queue has not been empty for busy_after, what
// comes waits at most busy_wait_max instead: a queue that stands makes every reply late and none
// possible ("controlled delay").
//
// Owns       the queue, shared by all reactors, and what a request that waits needs.
// Thread     any reactor; one lock, held for some ten nanoseconds, twice a request.
// Allocates  from the recycler, for a request that waits.
// Fails      503 with Retry-After when the queue is full, or the wait too long.
// Invariant  never more than running_max requests are running, nor waiting_max waiting; while set()
//            lowers them, no more than before.
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

// Requests that run and that wait at present.
struct ConcurrencyStatistics {
  std::uint32_t running = 0;       // now; above running_max only after set() lowered it
  std::uint32_t waiting = 0;       // now; likewise
  std::uint64_t refused_full = 0;  // since the start
  std::uint64_t refused_late = 0;  // since the start: waited too long
};

namespace detail {

class ConcurrencyQueue;

}  // namespace detail

// A request that is running; FromContext<RunningRequest> has it, and keeps its place: a task that a
// handler spawns counts by it.
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
  // As middleware it may stand behind a response cache: Middleware::limits_work.
  static constexpr bool limits_work = true;

  explicit ConcurrencyLimit(const ConcurrencyLimitOptions& options);
  Task<std::expected<RunningRequest, Reply>> operator()() const;
  // Of all reactors. Any thread.
  ConcurrencyStatistics statistics() const;
  // For requests from now on; a raised running_max lets on those that wait, a lowered one is
  // reached as requests end. Any thread. REQUIRES running_max of 1 or more.
  void set(const ConcurrencyLimitOptions& options);

 private:
  std::shared_ptr<detail::ConcurrencyQueue> queue_;
};

// To be given to use(); copies share the limit and its figures.
inline ConcurrencyLimit concurrency_limit(const ConcurrencyLimitOptions& options = {}) {
  return ConcurrencyLimit(options);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
