// Thrown: the exception of a job, until a waiter takes it. If it is destroyed untaken, the thread
// that destroys it reports it to PoolOptions::on_failure. This happens when a Future is dropped
// before or after its job ended. It also happens when a coroutine is destroyed while its job runs
// or while the outcome is on the way.
// FailureSink: refers to a pool for objects that may outlive the pool.
//
// Owns       Thrown a share of the sink.
// Borrows    the sink its pool, until detach().
// Thread     any; reports of one pool to its sink come one at a time.
// Allocates  a line for standard error when the pool is gone.
// Fails      never.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace katana::thread {

class Pool;

namespace detail {

class FailureSink {
 public:
  // Makes a sink; the pool has the first share.
  explicit FailureSink(Pool& pool) noexcept : pool_(&pool) {}
  FailureSink(const FailureSink&) = delete;

  void report(std::exception_ptr failure) noexcept;
  // Called when the pool ends. A later report is a line on standard error.
  void detach() noexcept;
  void share() noexcept { shares_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // acq_rel: the thread that deletes the sink has seen the writes of all others.
    if (shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // The sink of the pool whose job runs on this thread, with a share for the caller; null: none.
  static FailureSink* of_this_thread() noexcept;

 private:
  ~FailureSink() = default;

  std::recursive_mutex mutex_;  // on_failure may drop another future
  Pool* pool_;
  std::atomic<std::uint32_t> shares_ = 1;
};

class Thrown {
 public:
  explicit Thrown(std::exception_ptr exception) noexcept
      : exception_(std::move(exception)), sink_(FailureSink::of_this_thread()) {}
  Thrown(const Thrown&) = delete;
  Thrown& operator=(const Thrown&) = delete;
  ~Thrown() {
    if (sink_ == nullptr) return;
    sink_->report(std::move(exception_));
    sink_->release();
  }

  [[noreturn]] void rethrow() {
    if (sink_ != nullptr) std::exchange(sink_, nullptr)->release();
    std::rethrow_exception(exception_);
  }

 private:
  std::exception_ptr exception_;
  FailureSink* sink_;  // null: the exception was taken
};

}  // namespace detail
}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
