// LiveCoroutines: the suspended tasks of one reactor that no other task awaits, each with the tasks
// that it awaits, as a walk of it.
//
// Owns       copies of their facts; places, functions and awaitables are literals of the compiler,
//            the texts of routes are those of the service.
// Thread     see ReactorWalk.
// Allocates  the copies.
// Fails      never; without memory for copies the list is shorter.
// Invariant  a slice passes at most slice_max tasks, and visits at most frames_max of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task_state.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/reactor_walk.hpp"

namespace katana::server {

// One co_await that has not ended.
struct LiveFrame {
  std::uint32_t depth = 0;       // 0: the task that was started; its callees follow it
  std::source_location where;    // of the co_await, and of the function around it
  std::string_view awaits = {};  // the type of the awaitable; empty: the task that follows
  Duration waiting = {};         // since it was suspended
};

// One task that was started, and what it awaits.
struct LiveCoroutine {
  const std::string* route = nullptr;  // "GET /users/{id}"; null: none. The service's
  std::string id = {};                 // of the request that started it; empty: none
  std::string trace = {};              // the id of its trace; empty: none
  Duration waiting = {};               // since one of its frames was suspended last
  std::vector<LiveFrame> frames = {};  // callers before callees
};

// The function in a spelling of the compiler: "katana::Task<int> shop::find(int)" is "shop::find",
// and "auto run(int)::(anonymous class)::operator()() const" is "run()::(anonymous class)".
std::string short_name(Bytes function);
// The last two parts of a path, as in "shop/orders.cpp".
Bytes short_path(Bytes file) noexcept;

// The tasks that are wanted.
struct LiveCoroutineFilter {
  std::string route = {};   // "GET /users/{id}" or "/users/{id}"; empty: all
  Duration older = {};      // those that were suspended later are left out
  std::size_t limit = 100;  // of each reactor: those that have waited longest
};

class LiveCoroutines final : public ReactorWalk {
 public:
  static constexpr std::size_t slice_max = 16;   // tasks that are passed in one turn
  static constexpr std::size_t frames_max = 64;  // of one task

  explicit LiveCoroutines(LiveCoroutineFilter filter) : filter_(std::move(filter)) {}

  // Once is_over(): a heap with the task on top that has waited for the shortest time.
  std::vector<LiveCoroutine>& heap() noexcept { return kept_; }
  // The order of the heap.
  static bool is_longer(const LiveCoroutine& one, const LiveCoroutine& other) noexcept {
    return one.waiting > other.waiting;
  }
  std::size_t matched() const noexcept { return matched_; }
  // False: the thread has no list, and nothing is known of its tasks (see ThreadLists).
  bool is_listed() const noexcept { return is_listed_; }
  // The memory of the copies.
  std::size_t held_bytes() const noexcept;

 private:
  bool slice(net::Reactor& reactor) noexcept override;
  void end() noexcept override { walk_.end(); }
  void visit(const StartedTask& task);

  const LiveCoroutineFilter filter_;
  ListWalk<StartedTask> walk_;
  Instant now_ = never;  // of all times: that of the first slice
  std::size_t matched_ = 0;
  bool is_listed_ = true;
  std::vector<LiveCoroutine> kept_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
