// WaitSamples: how often the tasks of one reactor were found waiting in each stack of co_awaits.
// WaitWalk: adds one sample of every task that waits.
//
// Owns       its nodes. Places and awaitables are literals of the compiler, the texts of routes are
//            those of the service.
// Thread     a walk's (see ReactorWalk); once no walk is under way, any.
// Allocates  nodes, at most nodes_max.
// Fails      a stack without room is counted as lost, and the rest of a task that awaits more than
//            visited_max others.
// Invariant  each co_await that waits for something else than a task is one sample: tasks that run
//            at once (when_all) are one each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task_state.hpp"
#include "katana/http/server/reactor_walk.hpp"

namespace katana::server {

class WaitSamples {
 public:
  static constexpr std::size_t nodes_max = 50'000;  // of all stacks together
  static constexpr std::size_t depth_max = 64;  // of a stack; deeper co_awaits count for the last
  static constexpr std::size_t visited_max = 1024;    // tasks of one sample
  static constexpr std::size_t no_parent = SIZE_MAX;  // of the first co_await of a stack

  // A co_await below one chain of callers.
  struct Node {
    std::size_t parent = no_parent;      // an index into nodes(); that of the caller
    const std::string* route = nullptr;  // of the whole stack; null: none
    std::source_location where;          // of the co_await, and the function around it
    std::string_view awaits = {};        // the type of the awaitable; empty: a task
    std::int64_t count = 0;              // of samples that end here
  };

  // Adds one sample of the task and those that it awaits.
  void add(const StartedTask& task);
  // Callers before callees.
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  // Samples without room.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  class Stack;
  struct Key {
    std::size_t parent;
    const void* route;
    const char* function;
    std::uint_least32_t line, column;
    const char* awaits;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    std::size_t operator()(const Key& key) const noexcept;
  };
  // no_parent: there is no room.
  std::size_t node_of(std::size_t parent, const std::string* route, const TaskState& state);

  std::vector<Node> nodes_;
  std::unordered_map<Key, std::size_t, HashKey> place_of_;
  std::uint64_t lost_ = 0;
};

// One sample of every task of a reactor.
class WaitWalk final : public ReactorWalk {
 public:
  static constexpr std::size_t slice_max = 64;  // tasks that are passed in one turn

  explicit WaitWalk(std::shared_ptr<WaitSamples> samples) : samples_(std::move(samples)) {}
  // False: the thread has no list, and nothing is known of its tasks (see ThreadLists).
  bool is_listed() const noexcept { return is_listed_; }

 private:
  bool slice(net::Reactor& reactor) noexcept override;
  void end() noexcept override { walk_.end(); }

  const std::shared_ptr<WaitSamples> samples_;
  ListWalk<StartedTask> walk_;
  bool begun_ = false;
  bool is_listed_ = true;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
