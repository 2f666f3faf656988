// TimedChange: a value of the running program that is changed for a time, and then goes back.
//
//   TimedChange levels;
//   auto changed = levels.begin(later, seconds(600), set, go_back);
//
// Owns       the timer of the present change.
// Thread     any. Its functions are called one at a time.
// Allocates  the timer.
// Fails      begin() with the error of `later` or `apply`: nothing has changed then, and an earlier
//            change goes on until its own end.
// Invariant  `undo` of a change is not called once a later change has begun, even if its turn was
//            picked up before.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/base/thread/timed_job.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::app {

class TimedChange {
 public:
  // Calls a function after a time, as thread::Pool::after() does.
  using Later = std::function<Result<thread::TimedJob>(Duration, std::function<void()>)>;

  TimedChange() = default;
  TimedChange(const TimedChange&) = delete;
  TimedChange& operator=(const TimedChange&) = delete;

  // Calls `apply` now, and `undo` after `time`. REQUIRES that this outlives both.
  Result<void> begin(const Later& later, Duration time, const std::function<Result<void>()>& apply,
                     std::function<void()> undo) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = ++numbers_;
    // The timer comes first: a change that cannot end must not begin.
    auto timer = later(time, [this, number, undo = std::move(undo)] {
      const std::lock_guard turn(mutex_);
      if (number == present_) undo();
    });
    if (!timer) return std::unexpected(timer.error());
    if (auto applied = apply(); !applied) return applied;
    present_ = number;
    timer_.emplace(*std::move(timer));  // the former one is cancelled
    return {};
  }

 private:
  std::mutex mutex_;
  std::uint64_t numbers_ = 0;
  std::uint64_t present_ = 0;  // the number of the change that is in effect
  std::optional<thread::TimedJob> timer_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
