// Task<T>: a coroutine that yields one T.
//
// Owns       its frame. Destroying a suspended Task cancels it and destroys the locals of its
//            frame. Every awaitable of KATANA withdraws from its wait in its destructor.
// Thread     runs and resumes on the thread that started it, unless an awaitable says otherwise.
// Allocates  its frame, from the recycler.
// Fails      an exception that leaves the coroutine is rethrown to the awaiting coroutine, or by
//            result().
// Invariant  co_await is the ownership boundary: a parameter that is borrowed (is_borrowed) does
//            not compile, because it would dangle after the first suspension.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/needs_co_await.hpp"
#include "katana/base/coroutine/task_state.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/check.hpp"

namespace katana {

// True for types that refer to memory which the caller keeps for the length of a call. Specialise
// it for your own types.
template <class T>
inline constexpr bool is_borrowed = false;
template <>
inline constexpr bool is_borrowed<std::string_view> = true;
template <class T, std::size_t Extent>
inline constexpr bool is_borrowed<std::span<T, Extent>> = true;

template <class T>
class Task;

namespace detail {

class TaskPromiseBase {
 public:
  TaskState& state() noexcept { return state_; }

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    recycler::release(frame, bytes);
  }

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      TaskPromiseBase& promise = finished.promise();
      promise.state_.note_end();
      if (promise.continuation_) return promise.continuation_;
      // The callback may destroy the frame, which must not be used afterwards.
      if (promise.on_done_ != nullptr) promise.on_done_(promise.context_);
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }

  // Called by the compiler for `co_await awaitable`.
  template <class A>
  auto await_transform(A&& awaitable,
                       const std::source_location where = std::source_location::current()) {
    return note_await(std::forward<A>(awaitable), where);
  }
  template <class T>
  auto await_transform(
      Task<T>&& task, const std::source_location where = std::source_location::current()) noexcept {
    return NotedAwaiter<decltype(std::move(task).operator co_await())>{
        std::move(task).operator co_await(), &awaits_task, &task.state(), where};
  }

 protected:
  template <class>
  friend class katana::Task;
  // The first member: a debugger finds it (docs/operate/debug-and-profile.md).
  std::coroutine_handle<> continuation_;
  TaskState state_;
  void (*on_done_)(void*) noexcept = nullptr;
  void* context_ = nullptr;
  std::exception_ptr failure_;
};

template <class T>
class TaskResult : public TaskPromiseBase {
 public:
  template <class U = T>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }

 protected:
  friend class Task<T>;
  T take() {
    if (failure_) std::rethrow_exception(failure_);
    return *std::move(value_);
  }
  std::optional<T> value_;
};

template <>
class TaskResult<void> : public TaskPromiseBase {
 public:
  void return_void() const noexcept {}

 protected:
  friend class Task<void>;
  void take() const {
    if (failure_) std::rethrow_exception(failure_);
  }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task : public NeedsCoAwait {
 public:
  struct promise_type : detail::TaskResult<T> {
    template <class... Parameters>
    explicit promise_type(const Parameters&...) noexcept {
      static_assert(!(is_borrowed<std::remove_cvref_t<Parameters>> || ...),
                    "a coroutine may not take a borrowed view: take an owned Request or Text, or "
                    "answer from a plain function");
    }
    // Called by the compiler.
    Task get_return_object() noexcept { return Task(Handle::from_promise(*this)); }
  };

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  // Runs until the first suspension or the end. Returns done().
  bool start() {
    KATANA_REQUIRE(frame_ && !frame_.done());
    // The caller does not keep an activity that the coroutine entered before it was suspended.
    const bool had_activity = current_activity != nullptr;
    frame_.resume();
    if (!had_activity) current_activity = nullptr;
    return frame_.done();
  }
  // `callback(context)` is called when the started task ends, and may destroy this Task. REQUIRES
  // that the task is not done().
  void on_done(void (*callback)(void*) noexcept, void* context) noexcept {
    frame_.promise().on_done_ = callback;
    frame_.promise().context_ = context;
  }
  bool done() const noexcept { return frame_.done(); }
  // Where it waits, for StartedTask and awaitables that run tasks.
  const TaskState& state() const noexcept { return frame_.promise().state(); }
  // True if an exception left the coroutine, which result() rethrows. REQUIRES done(), or a call
  // from the callback of on_done().
  bool failed() const noexcept { return frame_.promise().failure_ != nullptr; }
  // The value of a task that is done(). Rethrows the exception that left the coroutine.
  T result() {
    KATANA_REQUIRE(frame_ && frame_.done());
    return frame_.promise().take();
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      std::coroutine_handle<promise_type> frame;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) const noexcept {
        frame.promise().continuation_ = waiting;
        return frame;
      }
      T await_resume() const { return frame.promise().take(); }
    };
    return Awaiter{frame_};
  }

 private:
  using Handle = std::coroutine_handle<promise_type>;
  explicit Task(Handle frame) noexcept : frame_(frame) {}
  Handle frame_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
