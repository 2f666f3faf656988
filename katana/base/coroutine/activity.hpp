// Activity: the work that a thread does at the moment, such as one request. The log takes fields
// for its records from it. Monitors take the name of the work. An awaitable carries it along.
//
//   void await_suspend(std::coroutine_handle<> handle) { waiting_ = handle; }   // in an awaitable
//   void on_event() { waiting_.resume(); }       // goes on with the activity it was suspended in
//   Waiting waiting_;
//
// Owns       nothing.
// Borrows    current_activity, for as long as it is set; Waiting, until the coroutine goes on or
//            is destroyed. Therefore an activity outlives every coroutine that was begun in it.
// Thread     its own: each thread has a current_activity.
// Allocates  never.
// Fails      never.
// Invariant  after resume() the caller has the activity that it had before, whatever the coroutine
//            did: interleaved coroutines never see each other's activity.
#pragma once

#include <coroutine>
#include <string>
#include <utility>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

namespace log {
class Context;  // only declared here
}
namespace trace {
struct CurrentSpan;  // only declared here
}

struct Activity {
  const log::Context* log_context = nullptr;  // fields of each record during the activity
  const std::string* site = nullptr;          // see Executor::site()
  Bytes name = {};                            // the id of the request
  Bytes trace = {};                           // the id of its trace; empty: none
  const trace::CurrentSpan* span = nullptr;   // the parent of spans that begin in the activity
};

// The activity that this thread works for. Null: none. Use ActivityScope to change it.
inline constinit thread_local const Activity* current_activity = nullptr;

// Sets the activity of this thread for the length of a block.
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

// Sets the site of this thread's executor for the length of a block (Executor::site()).
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

// A suspended coroutine, with the activity and the deadline that it had when it was suspended.
class Waiting {
 public:
  Waiting() noexcept = default;
  // Takes the coroutine that is being suspended on this thread.
  Waiting(std::coroutine_handle<> handle) noexcept
      : handle_(handle), activity_(current_activity), deadline_(current_deadline) {}

  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  // Resumes the coroutine. This object may be destroyed when the call returns.
  void resume() const {
    run([handle = handle_] { handle.resume(); });
  }
  // Calls `call` with the activity and the deadline of the coroutine, which stays suspended.
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
