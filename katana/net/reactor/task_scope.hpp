// TaskScope: tasks that run concurrently with their spawner, and that do not outlive their scope.
//
//   net::TaskScope scope({.tasks_max = 8});
//   for (const Url& url : urls) (void)scope.spawn(fetch(url));
//   co_await scope.join();
//
// Each reactor has one for work that outlives a request: net::spawn() (spawn.hpp).
//
// Owns       its tasks, until they end. The destructor cancels unfinished tasks: their frames are
//            destroyed.
// Borrows    the FailureObserver.
// Thread     its reactor's.
// Allocates  an entry for each task, from the recycler.
// Fails      spawn() with Code::resource_exhausted when there are tasks_max tasks. With
//            Code::cancelled when the scope is closed or cancels. The task is then destroyed
//            without having begun. An exception or Error that leaves a task is counted. A
//            FailureObserver is told: that of the options, else the reactor's. Without one a line
//            goes to standard error.
// Invariant  a task is not part of the activity that spawned it, which may end before it. It does
//            not have its deadline. It keeps a copy of its name and trace: calls and reports of the
//            task still carry the request's id.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/coroutine/task_state.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/result.hpp"

namespace katana::net {

// Limits of a scope, and the observer of failures.
struct TaskScopeOptions {
  std::size_t tasks_max = 10'000;       // running at once; spawn() fails beyond it
  FailureObserver* failures = nullptr;  // called when a task throws or fails; null: none. Borrowed
};

// Counts since the scope was made.
struct TaskCounts {
  std::uint64_t spawned = 0;    // tasks that spawn() accepted
  std::uint64_t failed = 0;     // with an exception or an Error
  std::uint64_t cancelled = 0;  // by their scope
  std::uint64_t refused = 0;    // by spawn()
};

class TaskScope {
 public:
  explicit TaskScope(TaskScopeOptions options = {}) noexcept : options_(options) {}
  ~TaskScope() { close(); }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

  // Runs the task to its first suspension. `name` is for the record of its failure.
  [[nodiscard]] Result<void> spawn(Task<void> task, std::string name = {}) {
    return begin(std::move(task), std::move(name), Nothing());
  }
  [[nodiscard]] Result<void> spawn(Task<Result<void>> task, std::string name = {}) {
    return begin(std::move(task), std::move(name), Nothing());
  }
  // The same, and keeps `kept` until the task has ended and its frame is destroyed: a place in a
  // limit.
  template <class Kept>
  [[nodiscard]] Result<void> spawn_keeping(Kept kept, Task<Result<void>> task,
                                           std::string name = {}) {
    return begin(std::move(task), std::move(name), std::move(kept));
  }
  // Waits until no task is left. REQUIRES that none of its tasks awaits it.
  Task<void> join() {
    while (size() > 0) co_await over_.wait();
  }
  // Destroys every unfinished task. Returns their number. REQUIRES that none of its tasks calls it.
  std::size_t cancel() noexcept;
  // The same; from here on spawn() is refused.
  void close() noexcept {
    closed_ = true;
    cancel();
  }

  // Whether spawn() would accept a task.
  bool takes() const noexcept { return !closed_ && !cancelling_ && size() < options_.tasks_max; }
  std::size_t size() const noexcept { return tasks_.size(); }
  const TaskCounts& counts() const noexcept { return counts_; }
  const TaskScopeOptions& options() const noexcept { return options_; }
  void set_failures(FailureObserver* failures) noexcept { options_.failures = failures; }

 private:
  class Entry : public ListHook<Entry> {
   public:
    Entry(TaskScope& scope, std::string name);
    virtual ~Entry() = default;
    static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
      recycler::release(memory, bytes);
    }

    TaskScope& scope;
    const std::string name;
    const std::string request_id;
    const std::string trace;
    const Activity activity;
  };

  struct Nothing {};
  template <class R, class Kept>
  class Spawned final : public Entry {
   public:
    Spawned(TaskScope& of, std::string called, Task<R> given, Kept keeps)
        : Entry(of, std::move(called)), kept(std::move(keeps)), task(std::move(given)) {}

    // The entry may be destroyed when it returns.
    void run() {
      const ActivityScope as(&this->activity);
      const DeadlineScope time(never);  // it outlives its spawner
      if (task.start()) return end();
      task.on_done([](void* self) noexcept { static_cast<Spawned*>(self)->end(); }, this);
      listed.emplace(task.state(), &this->activity);
    }

   private:
    void end() noexcept {
      try {
        if constexpr (std::is_void_v<R>) {
          task.result();
        } else {
          const R result = task.result();
          if (!result) this->scope.note_failure(*this, nullptr, &result.error());
        }
      } catch (...) {
        this->scope.note_failure(*this, std::current_exception(), nullptr);
      }
      this->scope.forget(*this);
    }

    [[no_unique_address]] Kept kept;  // outlives the task's frame
    Task<R> task;
    std::optional<StartedTask> listed;
  };

  template <class R, class Kept>
  Result<void> begin(Task<R> task, std::string name, Kept kept) {
    if (auto admitted = admit(); !admitted) return admitted;
    auto* const spawned =
        new Spawned<R, Kept>(*this, std::move(name), std::move(task), std::move(kept));
    tasks_.push_back(*spawned);
    spawned->run();
    return {};
  }
  Result<void> admit();
  void note_failure(const Entry& entry, std::exception_ptr thrown, const Error* error) noexcept;
  // Removes a task that has ended.
  void forget(Entry& entry) noexcept;

  TaskScopeOptions options_;
  LinkedList<Entry> tasks_;
  TaskCounts counts_;
  AsyncEvent over_;  // set when no task is left
  bool closed_ = false;
  bool cancelling_ = false;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
