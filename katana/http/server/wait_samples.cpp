#include "katana/http/server/wait_samples.hpp"

#include <exception>
#include <functional>

namespace katana::server {

// Follows a task to the co_awaits that wait for something else than a task.
class WaitSamples::Stack final : public TaskVisitor {
 public:
  Stack(WaitSamples& samples, const std::string* route) noexcept
      : samples_(samples), route_(route) {}

  bool visit(const TaskState& state) override {
    if (visited_ == visited_max) {
      if (!std::exchange(is_cut_, true)) ++samples_.lost_;
      return false;
    }
    ++visited_;
    if (!state.is_suspended()) return true;
    const std::size_t caller = node_;
    const std::size_t node = samples_.node_of(caller, route_, state);
    if (node == no_parent) {
      ++samples_.lost_;
      was_followed_ = true;  // it is no sample of its caller either
      return true;
    }
    if (depth_ + 1 < depth_max) {
      node_ = node;
      ++depth_;
      was_followed_ = false;
      state.visit(*this);
      --depth_;
      node_ = caller;
    } else {
      was_followed_ = false;
    }
    if (!std::exchange(was_followed_, true)) ++samples_.nodes_[node].count;
    return true;
  }

 private:
  WaitSamples& samples_;
  const std::string* const route_;
  std::size_t node_ = no_parent;
  std::size_t depth_ = 0;
  bool was_followed_ = false;  // a task below the present one waits
  std::size_t visited_ = 0;
  bool is_cut_ = false;
};

std::size_t WaitSamples::HashKey::operator()(const Key& key) const noexcept {
  std::size_t hash = key.parent;
  const auto mix = [&hash](std::size_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  mix(std::hash<const void*>()(key.route));
  mix(std::hash<const void*>()(key.function));
  mix(std::size_t{key.line} << 32 | key.column);
  mix(std::hash<const void*>()(key.awaits));
  return hash;
}

std::size_t WaitSamples::node_of(std::size_t parent, const std::string* route,
                                 const TaskState& state) {
  const Key key{parent,
                route,
                state.where().function_name(),
                state.where().line(),
                state.where().column(),
                state.awaits().data()};
  if (const auto found = place_of_.find(key); found != place_of_.end()) return found->second;
  if (nodes_.size() == nodes_max) return no_parent;
  const std::size_t place = nodes_.size();
  nodes_.push_back(
      {.parent = parent, .route = route, .where = state.where(), .awaits = state.awaits()});
  place_of_.emplace(key, place);
  return place;
}

void WaitSamples::add(const StartedTask& task) {
  const Activity* const activity = task.activity();
  Stack(*this, activity != nullptr ? activity->site : nullptr).visit(task.state());
}

bool WaitWalk::slice(net::Reactor& reactor) noexcept {
  auto* const tasks = ThreadLists<StartedTask>::own();
  if (tasks == nullptr) {
    is_listed_ = false;
    return true;
  }
  if (!std::exchange(begun_, true)) walk_.begin(*tasks);
  try {
    return walk_.step(slice_max, [&](const StartedTask& each) {
      // In tests several reactors share a thread.
      if (each.executor() == &reactor) samples_->add(each);
      return true;
    });
  } catch (const std::bad_alloc&) {
    return true;
  }
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
