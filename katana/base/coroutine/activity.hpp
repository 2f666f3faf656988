// Activity: on whose behalf a thread works at the moment. The log takes the fields of its records
// from it, monitors what they call the work; an awaitable carries it along.
//
//   void await_suspend(std::coroutine_handle<> handle) { waiting_ = handle; }   // in an awaitable
//   void on_event() { waiting_.resume(); }       // goes on with the activity it was suspended in
//   Waiting waiting_;
//
// Owns       nothing.
// Borrows    current_activity, for as long as it is set; Waiting, until the coroutine goes on or
//            is destroyed. Therefore an activity outlives every coroutine that was begun in it.
// Thread     its own: each has a current_activity.
// Allocates  never.
// Fails      never.
// Invariant  after resume() the caller has the activity that it had before, whatever the coroutine
//            did: interleaved coroutines never see one another's.
#pragma once

#include <coroutine>
#include <string>
#include <utility>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

namespace log {
class Context;  // never looked into here
}
namespace trace {
struct CurrentSpan;  // nor into this
}

struct Activity {
  const log::Context* log_context = nullptr;  // fields of every record that is made meanwhile
  const std::string* site = nullptr;          // see Executor::site()
  Bytes name = {};                            // what others call it: the id of a request
  Bytes trace = {};                           // the id of its trace; empty: none
  const trace::CurrentSpan* span = nullptr;   // the parent of spans that begin meanwhile
};

// The activity that this thread works for. Null: none. Use ActivityScope to change it.
inline constinit thread_local const Activity* current_activity = nullptr;

// For the length of a block.
class [[nodiscard]] ActivityScope {
 public:
  explicit ActivityScope(const Activity* activity) noexcept
      : outer_(std::exchange(current_activity, activity)) {}
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;
  ~ActivityScope() { current_activity = outer_; }

 private:
  const Activity* const outer_;
};

// What the executor of this thread is at, for the length of a block.
class [[nodiscard]] SiteScope {
 public:
  explicit SiteScope(const std::string* site) noexcept : executor_(Executor::current()) {
    if (executor_ != nullptr) outer_ = executor_->enter_site(site);
  }
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;
  ~SiteScope() {
    if (executor_ != nullptr) executor_->leave_site(outer_);
  }

 private:
  Executor* const executor_;
  const std::string* outer_ = nullptr;
};

// A coroutine that was suspended, and the activity and the deadline that it was suspended with.
class Waiting {
 public:
  Waiting() noexcept = default;
  // Of the coroutine that is being suspended on this thread.
  Waiting(std::coroutine_handle<> handle) noexcept
      : handle_(handle), activity_(current_activity), deadline_(current_deadline) {}

  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  // This object may be gone when it returns.
  void resume() const {
    run([handle = handle_] { handle.resume(); });
  }
  // Runs something for the coroutine, which goes on waiting.
  template <class F>
  void run(F call) const {
    const DeadlineScope time(deadline_);
    if (activity_ == nullptr) [[likely]] {
      const ActivityScope scope(nullptr);
      call();
    } else {
      const ActivityScope scope(activity_);
      const SiteScope site(activity_->site);
      call();
    }
  }

 private:
  std::coroutine_handle<> handle_;
  const Activity* activity_ = nullptr;
  Instant deadline_ = never;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
