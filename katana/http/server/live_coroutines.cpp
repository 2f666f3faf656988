#include "katana/http/server/live_coroutines.hpp"

#include <algorithm>
#include <exception>

#include "katana/http/server/live_requests.hpp"

namespace katana::server {
namespace {

// Copies the frames of a task, callers before callees.
class Frames final : public TaskVisitor {
 public:
  Frames(Instant now, std::vector<LiveFrame>& to) noexcept : now_(now), to_(to) {}

  bool visit(const TaskState& state) override {
    if (to_.size() == LiveCoroutines::frames_max || visited_ == visited_max) return false;
    ++visited_;
    if (!state.is_suspended()) return true;
    const Duration waiting =
        state.since() == Instant{} ? Duration{} : std::max(now_ - state.since(), Duration{});
    to_.push_back(
        {.depth = depth_, .where = state.where(), .awaits = state.awaits(), .waiting = waiting});
    ++depth_;
    state.visit(*this);
    --depth_;
    return true;
  }

 private:
  // Tasks that run at once may be many, and all but a few over.
  static constexpr std::size_t visited_max = 16 * LiveCoroutines::frames_max;

  const Instant now_;
  std::vector<LiveFrame>& to_;
  std::uint32_t depth_ = 0;
  std::size_t visited_ = 0;
};

// The place of the last character that `wanted` accepts, outside of brackets; npos: none.
template <class Wanted>
std::size_t last_outside(Bytes text, Wanted wanted) noexcept {
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    const char each = text[at];
    if (each == ')' || each == '>' || each == ']' || each == '}') ++depth;
    if (depth == 0 && wanted(each)) return at;
    if (each == '(' || each == '<' || each == '[' || each == '{') --depth;
  }
  return Bytes::npos;
}

// Without the parameters of the functions around a lambda: "run(int)::<lambda(int)>" is
// "run()::<lambda(int)>". A "(" behind "::" or within "<>" is part of a name.
std::string without_parameters(Bytes function) {
  std::string name;
  int depth = 0;  // of parameters
  int angles = 0;
  for (const char each : function) {
    if (depth == 0) angles += each == '<' ? 1 : each == '>' ? -1 : 0;
    const bool begins = each == '(' && angles == 0 && !name.empty() && !name.ends_with("::");
    if (depth > 0 ? each == '(' : begins) {
      if (depth++ == 0) name += "()";
    } else if (depth > 0) {
      if (each == ')') --depth;
    } else {
      name += each;
    }
  }
  return name;
}

}  // namespace

std::string short_name(Bytes function) {
  // g++ adds the arguments of a template: "T f(T) [with T = int]".
  if (const std::size_t with = function.find(" [with "); with != Bytes::npos) {
    function = function.substr(0, with);
  }
  // Behind the parameters there may be "const" and the like.
  if (const std::size_t end = function.rfind(')'); end != Bytes::npos) {
    function = function.substr(0, end + 1);
    int depth = 0;
    for (std::size_t at = function.size(); at-- > 0;) {
      if (function[at] == ')') ++depth;
      if (function[at] == '(' && --depth == 0) {
        function = function.substr(0, at);
        break;
      }
    }
  }
  const std::size_t space = last_outside(function, [](char each) { return each == ' '; });
  if (space != Bytes::npos) function.remove_prefix(space + 1);
  constexpr Bytes call = "::operator()";
  if (function.ends_with(call)) function.remove_suffix(call.size());
  return without_parameters(function);
}

Bytes short_path(Bytes file) noexcept {
  std::size_t slash = file.rfind('/');
  if (slash != Bytes::npos && slash > 0) slash = file.rfind('/', slash - 1);
  return slash == Bytes::npos ? file : file.substr(slash + 1);
}

bool LiveCoroutines::slice(net::Reactor& reactor) noexcept {
  auto* const tasks = ThreadLists<StartedTask>::own();
  if (tasks == nullptr) {
    is_listed_ = false;
    return true;
  }
  if (now_ == never) {
    now_ = reactor.now();
    walk_.begin(*tasks);
  }
  try {
    return walk_.step(slice_max, [&](const StartedTask& each) {
      // In tests several reactors share a thread.
      if (each.executor() == &reactor) visit(each);
      return true;
    });
  } catch (const std::bad_alloc&) {
    return true;  // what was found so far is shown
  }
}

void LiveCoroutines::visit(const StartedTask& task) {
  const Activity* const activity = task.activity();
  const std::string* const route = activity != nullptr ? activity->site : nullptr;
  if (!is_route(route, filter_.route)) return;
  LiveCoroutine found{.route = route};
  Frames(now_, found.frames).visit(task.state());
  if (found.frames.empty()) return;  // it runs, or is over
  found.waiting = std::ranges::min(found.frames, {}, &LiveFrame::waiting).waiting;
  if (found.waiting < filter_.older) return;
  ++matched_;
  if (kept_.size() == filter_.limit) {
    if (found.waiting <= kept_.front().waiting) return;
    std::ranges::pop_heap(kept_, is_longer);
    kept_.pop_back();
  }
  if (activity != nullptr) {
    found.id = activity->name;
    found.trace = activity->trace;
  }
  kept_.push_back(std::move(found));
  std::ranges::push_heap(kept_, is_longer);
}

std::size_t LiveCoroutines::held_bytes() const noexcept {
  std::size_t bytes = kept_.capacity() * sizeof(LiveCoroutine);
  for (const LiveCoroutine& each : kept_) {
    bytes +=
        each.id.capacity() + each.trace.capacity() + each.frames.capacity() * sizeof(LiveFrame);
  }
  return bytes;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
