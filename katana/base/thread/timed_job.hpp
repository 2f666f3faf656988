// TimedJob: the handle of a delayed or periodic job.
//
// Owns       the job's future turns: destroying the handle cancels them, unless it was let_go().
// Borrows    nothing; its pool may end first.
// Thread     one at a time.
// Allocates  never.
// Fails      never.
// Invariant  after cancel() no turn begins, except one that a worker has already picked up.
#pragma once

#include <memory>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/base/thread/schedule.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::thread {

class Pool;

class [[nodiscard]] TimedJob {
 public:
  TimedJob(TimedJob&&) noexcept = default;
  TimedJob& operator=(TimedJob&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~TimedJob() { cancel(); }

  // Cancels all later turns. A running turn goes on. A second call does nothing.
  void cancel() noexcept {
    if (entry_ != nullptr) entry_->cancelled.store(true, std::memory_order_relaxed);
    entry_.reset();
  }
  // Releases the job: it goes on without a handle, until the pool stops.
  void let_go() noexcept { entry_.reset(); }

 private:
  friend class Pool;
  explicit TimedJob(Schedule::Held entry) noexcept : entry_(std::move(entry)) {}
  static Result<TimedJob> begin(Pool& pool, Schedule::Held entry, Duration delay);

  Schedule::Held entry_;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
