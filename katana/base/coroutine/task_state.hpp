// TaskState: where a suspended Task waits, and for what. StartedTask: a task that no other one
// awaits, in a list of its thread. Both are for people who ask what a program waits for.
//
// Owns       StartedTask: its place in the list.
// Borrows    the awaitable, while the task is suspended in it; StartedTask: the task and its
//            activity.
// Thread     that of the task.
// Allocates  never.
// Fails      StartedTask: those of the threads after the first 256 are left out.
// Invariant  a task that is suspended has a state; one that has not begun or is over has none. A
//            task that runs may have that of its last wait. A walk is a message of the same
//            executor, and never meets a task that runs. An awaitable that resumes a task on
//            another thread would break this; those of KATANA do not.
#pragma once

#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/memory/walked_list.hpp"
#include "katana/base/values/instant.hpp"

namespace katana {

// The time when the turn of this thread's executor began; Instant{}: it tells none.
inline constinit thread_local Instant current_turn_began{};

class TaskState;

// Receives the tasks that a task awaits.
class TaskVisitor {
 public:
  // Returns false if it wants no more of them.
  virtual bool visit(const TaskState& awaited) = 0;

 protected:
  ~TaskVisitor() = default;
};

// One for each type of awaitable.
struct AwaitKind {
  std::string_view name;  // of the type: "katana::net::Sleep"
  // Passes the tasks that the awaitable runs; null: it runs none.
  void (*visit)(const void* awaited, TaskVisitor& visitor);
};

namespace detail {

// An awaitable that runs tasks has `void visit_tasks(TaskVisitor&) const`, which ends when the
// visitor wants no more.
template <class A>
concept RunsTasks =
    requires(const A& awaitable, TaskVisitor& visitor) { awaitable.visit_tasks(visitor); };

template <class A>
consteval std::string_view awaitable_name() {
  const std::string_view all = __PRETTY_FUNCTION__;  // "… [with A = X; …]", "… [A = X]"
  const std::size_t begin = all.find("A = ") + 4;
  const std::size_t end = all.find(';', begin);
  return all.substr(begin, (end < all.size() ? end : all.size() - 1) - begin);
}

template <class A>
constexpr AwaitKind kind_of_awaitable() {
  if constexpr (RunsTasks<A>) {
    return {awaitable_name<A>(), [](const void* awaited, TaskVisitor& visitor) {
              static_cast<const A*>(awaited)->visit_tasks(visitor);
            }};
  } else {
    return {awaitable_name<A>(), nullptr};
  }
}
template <class A>
inline constexpr AwaitKind await_kind = kind_of_awaitable<A>();

}  // namespace detail

class TaskState {
 public:
  // False: the task has not begun, or is over.
  bool is_suspended() const noexcept { return kind_ != nullptr; }
  // The others REQUIRE is_suspended().

  // The name of the awaitable's type; empty: another task.
  std::string_view awaits() const noexcept { return kind_->name; }
  // The place of the co_await, and the function around it as the compiler spells it.
  const std::source_location& where() const noexcept { return where_; }
  // The begin of the turn in which it was suspended; Instant{}: not known.
  Instant since() const noexcept { return since_; }
  // Passes the tasks that it awaits.
  void visit(TaskVisitor& visitor) const {
    if (kind_->visit != nullptr) kind_->visit(awaited_, visitor);
  }

  // The task is about to be suspended in `awaited`, which stays until it goes on.
  void note(const AwaitKind& kind, const void* awaited,
            const std::source_location& where) noexcept {
    kind_ = &kind;
    awaited_ = awaited;
    where_ = where;
    since_ = current_turn_began;
  }
  // The task is over.
  void note_end() noexcept { kind_ = nullptr; }

 private:
  const AwaitKind* kind_ = nullptr;
  const void* awaited_ = nullptr;
  std::source_location where_;
  Instant since_{};
};

namespace detail {

// The kind of `co_await task`: the awaited object is the state of that task.
inline constexpr AwaitKind awaits_task{
    {}, [](const void* awaited, TaskVisitor& visitor) {
      (void)visitor.visit(*static_cast<const TaskState*>(awaited));
    }};

// The awaiter of `co_await awaitable` in a Task. It notes the wait if it suspends.
// Awaiter: a type, or a reference to one, which g++ 12 would copy if it were returned as such.
template <class Awaiter>
struct NotedAwaiter {
  Awaiter awaiter;
  const AwaitKind* kind;
  const void* awaited;
  std::source_location where;

  bool await_ready() noexcept(noexcept(awaiter.await_ready())) { return awaiter.await_ready(); }
  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> waiting) noexcept(
      noexcept(awaiter.await_suspend(waiting))) {
    waiting.promise().state().note(*kind, awaited, where);
    return awaiter.await_suspend(waiting);
  }
  decltype(auto) await_resume() noexcept(noexcept(awaiter.await_resume())) {
    return awaiter.await_resume();
  }
};

template <class A>
auto note_await(A&& awaitable, const std::source_location& where) {
  using Type = std::remove_cvref_t<A>;
  if constexpr (requires { std::forward<A>(awaitable).operator co_await(); }) {
    return NotedAwaiter<decltype(std::forward<A>(awaitable).operator co_await())>{
        std::forward<A>(awaitable).operator co_await(), &await_kind<Type>, &awaitable, where};
  } else if constexpr (requires { operator co_await(std::forward<A>(awaitable)); }) {
    return NotedAwaiter<decltype(operator co_await(std::forward<A>(awaitable)))>{
        operator co_await(std::forward<A>(awaitable)), &await_kind<Type>, &awaitable, where};
  } else {
    static_assert(
        requires { awaitable.await_ready(); },
        "no operator co_await is found as a member or in the namespace of the operand: wrap the "
        "type in one of yours");
    return NotedAwaiter<std::remove_reference_t<A>&>{awaitable, &await_kind<Type>, &awaitable,
                                                     where};
  }
}

}  // namespace detail

// The place of a started task in the list of its thread.
class StartedTask : public WalkedItem<StartedTask> {
 public:
  // `activity`: of the work that started the task, which outlives this object; null: none. It is
  // not current_activity: a task that waits in a span of its own has changed that. REQUIRES that
  // this object ends before the task does.
  StartedTask(const TaskState& state, const Activity* activity) noexcept
      : state_(state), activity_(activity), executor_(Executor::current()) {
    if (auto* const list = ThreadLists<StartedTask>::own()) list->push_back(*this);
  }
  // The task ends before this object.
  void end() noexcept { leave_list(); }

  // The state of its task.
  const TaskState& state() const noexcept { return state_; }
  // The activity that it was given.
  const Activity* activity() const noexcept { return activity_; }
  const Executor* executor() const noexcept { return executor_; }

 private:
  const TaskState& state_;
  const Activity* const activity_;
  const Executor* const executor_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
