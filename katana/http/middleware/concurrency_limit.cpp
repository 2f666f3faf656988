#include "katana/http/middleware/concurrency_limit.hpp"

#include <algorithm>
#include <coroutine>
#include <mutex>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/timer_wheel.hpp"

namespace katana {
namespace detail {

class PlaceAwaiter;

// A request in the queue. The queue owns it until it is admitted, then the message that reports
// this. Its awaiter is on its executor's thread.
struct QueuedRequest final : Message, ListHook<QueuedRequest> {
  QueuedRequest(std::shared_ptr<ConcurrencyQueue> of, Executor& home, PlaceAwaiter& waiter) noexcept
      : Message(&QueuedRequest::go_on), queue(std::move(of)), executor(home), awaiter(&waiter) {}
  static void go_on(Message& message) noexcept;

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

  const std::shared_ptr<ConcurrencyQueue> queue;
  Executor& executor;
  PlaceAwaiter* awaiter;  // null: the request has ended
  bool let_on = false;    // under the queue's lock
};

class ConcurrencyQueue {
 public:
  explicit ConcurrencyQueue(const ConcurrencyLimitOptions& options) noexcept : options_(options) {}

  bool enter() noexcept {
    const std::lock_guard lock(mutex_);
    return enter_locked();
  }
  enum class Outcome : std::uint8_t { entered, queued, full };
  // `wait`: receives the longest wait, if the request is queued.
  Outcome enter_or_queue(QueuedRequest& request, Instant now, Duration& wait) noexcept {
    const std::lock_guard lock(mutex_);
    if (enter_locked()) return Outcome::entered;
    if (waiting_.size() >= options_.waiting_max) {
      ++refused_full_;
      return Outcome::full;
    }
    if (waiting_.empty()) standing_since_ = now;
    const bool busy = now - standing_since_ > options_.busy_after;
    wait = busy ? std::min(options_.busy_wait_max, options_.wait_max) : options_.wait_max;
    waiting_.push_back(request);
    return Outcome::queued;
  }
  // Returns false if the request was admitted: its message is under way.
  bool leave_queue(QueuedRequest& request, bool late) noexcept {
    const std::lock_guard lock(mutex_);
    if (request.let_on) return false;
    waiting_.remove(request);
    refused_late_ += late ? 1 : 0;
    return true;
  }
  // A place is free: the first request in the queue gets it.
  void leave() noexcept {
    QueuedRequest* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty() || running_ > options_.running_max) {
        --running_;
        return;
      }
      next = &waiting_.pop_front();
      next->let_on = true;
    }
    next->executor.post(*next);
  }
  void set(const ConcurrencyLimitOptions& options) noexcept {
    {
      const std::lock_guard lock(mutex_);
      options_ = options;
    }
    while (QueuedRequest* const next = take_next()) next->executor.post(*next);
  }
  ConcurrencyStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    return {running_, static_cast<std::uint32_t>(waiting_.size()), refused_full_, refused_late_};
  }

 private:
  // Returns the first request in the queue, if there is a place for it; null otherwise.
  QueuedRequest* take_next() noexcept {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || !enter_locked()) return nullptr;
    QueuedRequest& next = waiting_.pop_front();
    next.let_on = true;
    return &next;
  }
  bool enter_locked() noexcept {
    if (running_ >= options_.running_max) return false;
    ++running_;
    return true;
  }

  ConcurrencyLimitOptions options_;  // under the lock
  mutable std::mutex mutex_;
  LinkedList<QueuedRequest> waiting_;
  Instant standing_since_;  // of a queue that is not empty
  std::uint32_t running_ = 0;
  std::uint64_t refused_full_ = 0;
  std::uint64_t refused_late_ = 0;
};

// Lives in the frame of the waiting request.
class PlaceAwaiter final : private net::TimerEntry {
 public:
  explicit PlaceAwaiter(const std::shared_ptr<ConcurrencyQueue>& queue) noexcept
      : TimerEntry(&PlaceAwaiter::be_late), queue_(queue) {}
  ~PlaceAwaiter() {
    if (request_ == nullptr) return;
    if (queue_->leave_queue(*request_, false)) {
      drop();
    } else {
      request_->awaiter = nullptr;
    }
  }

  bool await_ready() noexcept { return entered_ = queue_->enter(); }
  bool await_suspend(std::coroutine_handle<> waiting) {
    net::Reactor* const reactor = net::Reactor::current();
    if (reactor == nullptr) [[unlikely]] {
      throw_misuse("a concurrency limit was awaited on a thread without a reactor",
                   "use it as middleware: a reactor runs that");
    }
    auto request = std::make_unique<QueuedRequest>(queue_, *reactor, *this);
    Duration wait;
    waiting_ = waiting;
    reactor->expect_open_ended();
    switch (queue_->enter_or_queue(*request, reactor->now(), wait)) {
      case ConcurrencyQueue::Outcome::queued:
        request_ = request.release();
        reactor->timers().arm(*this, reactor->now() + wait);
        return true;
      case ConcurrencyQueue::Outcome::entered: entered_ = true; break;
      case ConcurrencyQueue::Outcome::full: break;
    }
    reactor->unexpect_open_ended();
    return false;
  }
  // Returns false if the request is to be refused.
  bool await_resume() const noexcept { return entered_; }

 private:
  friend struct QueuedRequest;

  static void be_late(TimerEntry& entry) noexcept {
    auto& self = static_cast<PlaceAwaiter&>(entry);
    if (!self.queue_->leave_queue(*self.request_, true)) return;
    self.drop();
    self.waiting_.resume();
  }
  void drop() noexcept {
    request_->executor.unexpect_open_ended();
    delete std::exchange(request_, nullptr);
  }
  void go_on() noexcept {
    cancel();
    request_ = nullptr;
    entered_ = true;
    const Waiting waiting = waiting_;  // the frame may end during the call
    waiting.resume();
  }

  const std::shared_ptr<ConcurrencyQueue> queue_;
  QueuedRequest* request_ = nullptr;  // null: not in a queue
  Waiting waiting_;
  bool entered_ = false;
};

// Inlined, to keep it out of the symbols of shared libraries.
inline void QueuedRequest::go_on(Message& message) noexcept {
  const std::unique_ptr<QueuedRequest> self(static_cast<QueuedRequest*>(&message));
  self->executor.unexpect_open_ended();
  if (self->awaiter != nullptr) {
    self->awaiter->go_on();
  } else {
    self->queue->leave();
  }
}

}  // namespace detail

RunningRequest::~RunningRequest() {
  if (queue_ != nullptr) queue_->leave();
}

namespace {

void check(const ConcurrencyLimitOptions& options) {
  if (options.running_max == 0) {
    throw_misuse("concurrency_limit() with running_max = 0 would refuse every request",
                 "give 1 or more");
  }
}

}  // namespace

ConcurrencyLimit::ConcurrencyLimit(const ConcurrencyLimitOptions& options)
    : queue_(std::make_shared<detail::ConcurrencyQueue>(options)) {
  check(options);
}

void ConcurrencyLimit::set(const ConcurrencyLimitOptions& options) {
  check(options);
  queue_->set(options);
}

Task<std::expected<RunningRequest, Reply>> ConcurrencyLimit::operator()() const {
  const std::shared_ptr<detail::ConcurrencyQueue> queue = queue_;
  if (co_await detail::PlaceAwaiter(queue)) co_return RunningRequest(queue);
  co_return std::unexpected(
      problem(problem_types::too_many_running,
              "More requests than this resource serves at a time are waiting.")
          .with("Retry-After", "1"));
}

ConcurrencyStatistics ConcurrencyLimit::statistics() const { return queue_->statistics(); }

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
