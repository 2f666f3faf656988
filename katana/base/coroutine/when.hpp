// when_all, when_any: run several tasks at once, on one thread.
//
//   auto [user, orders] = co_await when_all(find_user(id), find_orders(id));
//   std::vector<Quote> quotes = co_await when_all(std::move(tasks));  // of one type
//   auto first = co_await when_any(ask(primary), ask(replica));      // first.index() says which
//
// Owns       the tasks. If it is destroyed while it waits, it destroys them, which cancels their
//            waits. The first failure of when_all and the first end of when_any cancel the other
//            tasks in the same way.
// Thread     that of the coroutine that awaits; the tasks run there in turns.
// Allocates  nothing but the tasks' frames.
// Fails      when_all() rethrows the exception that came first, after the cancelled tasks are
//            destroyed; when_any() rethrows that of the task that ended first.
// Invariant  tasks are begun in their order. A task of void gives std::monostate.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/check.hpp"

namespace katana {

namespace detail {

template <class T>
using ValueOf = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// The waiter of several tasks.
class Gathering {
 public:
  static constexpr std::size_t none = SIZE_MAX;
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }

 protected:
  Gathering(std::size_t count, bool any) noexcept : left_(count), any_(any) {}

  bool is_over() const noexcept { return left_ == 0; }
  // The index of the task that failed first; of when_any the one that ended first.
  std::size_t decisive() const noexcept { return decisive_; }
  // Notes that a task has ended. After the last one the waiter resumes at once, and may destroy
  // this object.
  void note_end(std::size_t index, bool failed) noexcept {
    if (is_over()) return;  // a task that is being cancelled may end meanwhile
    --left_;
    if (failed || any_) {
      decisive_ = index;
      left_ = 0;
    }
    if (is_over() && waiting_) std::exchange(waiting_, {}).resume();
  }

 private:
  std::size_t left_;
  const bool any_;
  std::size_t decisive_ = none;
  Waiting waiting_;
};

template <class Owner, class T>
struct Gathered {
  Gathered(Owner& given, Task<T>&& task, std::size_t at) noexcept
      : owner(given), running(std::move(task)), index(at) {}

  void begin() {
    if (owner.is_over()) return;  // an earlier task failed, or ended first
    running.on_done(
        [](void* self) noexcept {
          Gathered& ended = *static_cast<Gathered*>(self);
          ended.owner.note_end(ended.index, ended.running.failed());
        },
        this);
    const ActivityScope as(current_activity);  // the next task begins without this one's activity
    running.start();
  }
  ValueOf<T> take() {
    if constexpr (std::is_void_v<T>) {
      running.result();
      return {};
    } else {
      return running.result();
    }
  }

  Owner& owner;
  Task<T> running;
  std::size_t index;
};

template <class... T>
class [[nodiscard]] GatherTuple : public Gathering {
 public:
  GatherTuple(bool any, Task<T>&&... tasks) : GatherTuple(any, Indices(), std::move(tasks)...) {}

  bool await_ready() {
    std::apply([](auto&... each) { (each.begin(), ...); }, tasks_);
    return is_over();
  }
  void visit_tasks(TaskVisitor& visitor) const {
    std::apply([&](const auto&... each) { (void)(visitor.visit(each.running.state()) && ...); },
               tasks_);
  }
  // The state of the first task.
  const TaskState& first_state() const noexcept { return std::get<0>(tasks_).running.state(); }

 protected:
  using Indices = std::index_sequence_for<T...>;
  template <class, class>
  friend struct Gathered;

  std::tuple<Gathered<GatherTuple, T>...> tasks_;

 private:
  template <std::size_t... index>
  GatherTuple(bool any, std::index_sequence<index...>, Task<T>&&... tasks)
      : Gathering(sizeof...(T), any),
        tasks_(Gathered<GatherTuple, T>(*this, std::move(tasks), index)...) {}
};

template <class... T>
class [[nodiscard]] AllOfTuple final : public GatherTuple<T...> {
 public:
  explicit AllOfTuple(Task<T>&&... tasks) : GatherTuple<T...>(false, std::move(tasks)...) {}
  std::tuple<ValueOf<T>...> await_resume() {
    std::size_t index = 0;
    // Only the task that failed first is known to have ended.
    const auto rethrow = [&](auto& each) {
      if (index++ == this->decisive()) (void)each.take();
    };
    std::apply([&](auto&... each) { (rethrow(each), ...); }, this->tasks_);
    return std::apply([](auto&... each) { return std::tuple<ValueOf<T>...>{each.take()...}; },
                      this->tasks_);
  }
};

template <class... T>
class [[nodiscard]] AnyOfTuple final : public GatherTuple<T...> {
 public:
  using Value = std::variant<ValueOf<T>...>;
  explicit AnyOfTuple(Task<T>&&... tasks) : GatherTuple<T...>(true, std::move(tasks)...) {}
  Value await_resume() { return take(std::index_sequence_for<T...>()); }

 private:
  template <std::size_t... index>
  Value take(std::index_sequence<index...>) {
    std::optional<Value> value;
    (void)((index == this->decisive()
                ? (value.emplace(std::in_place_index<index>, std::get<index>(this->tasks_).take()),
                   true)
                : false) ||
           ...);
    return *std::move(value);
  }
};

template <class T, bool any>
class [[nodiscard]] GatherVector final : public Gathering {
 public:
  explicit GatherVector(std::vector<Task<T>>&& tasks) : Gathering(tasks.size(), any) {
    KATANA_REQUIRE(!any || !tasks.empty());
    tasks_.reserve(tasks.size());
    for (Task<T>& task : tasks) tasks_.emplace_back(*this, std::move(task), tasks_.size());
  }
  bool await_ready() {
    for (auto& each : tasks_) each.begin();
    return is_over();
  }
  void visit_tasks(TaskVisitor& visitor) const {
    for (const auto& each : tasks_) {
      if (!visitor.visit(each.running.state())) return;
    }
  }
  auto await_resume() {
    if constexpr (any) {
      return std::pair<std::size_t, ValueOf<T>>(decisive(), tasks_[decisive()].take());
    } else {
      if (decisive() != none) (void)tasks_[decisive()].take();
      std::vector<ValueOf<T>> values;
      values.reserve(tasks_.size());
      for (auto& each : tasks_) values.push_back(each.take());
      return values;
    }
  }

 private:
  template <class, class>
  friend struct Gathered;
  std::vector<Gathered<GatherVector, T>> tasks_;
};

}  // namespace detail

// Runs all tasks. Gives a std::tuple of their values.
template <class... T>
detail::AllOfTuple<T...> when_all(Task<T>... tasks) {
  return detail::AllOfTuple<T...>(std::move(tasks)...);
}
// Runs all tasks. Gives a std::vector of their values in the order of the tasks.
template <class T>
detail::GatherVector<T, false> when_all(std::vector<Task<T>> tasks) {
  return detail::GatherVector<T, false>(std::move(tasks));
}
// Runs the tasks until one ends. Gives a std::variant with its value at its index.
template <class... T>
  requires(sizeof...(T) > 0)
detail::AnyOfTuple<T...> when_any(Task<T>... tasks) {
  return detail::AnyOfTuple<T...>(std::move(tasks)...);
}
// Runs the tasks until one ends. Gives its index and its value. REQUIRES at least one task.
template <class T>
detail::GatherVector<T, true> when_any(std::vector<Task<T>> tasks) {
  return detail::GatherVector<T, true>(std::move(tasks));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
