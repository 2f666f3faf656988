#include "katana_tool/live/stack_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "katana_tool/live/top_view.hpp"

namespace katana::tool {
namespace {

std::string time_text(std::int64_t ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 120'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  return fmt::format("{} min", ms / 60'000);
}

// Texts come from a program that may be any: no control characters, and not too long.
constexpr std::size_t text_width_max = 300;
std::string safe(const std::string& text) { return shown(text, text_width_max); }

std::string function_of(const app::FrameEntry& frame) {
  constexpr std::int64_t depth_max = 64;
  const auto depth = static_cast<std::size_t>(std::clamp<std::int64_t>(frame.depth, 0, depth_max));
  return std::string(2 * depth, ' ') + safe(frame.function);
}

std::vector<std::string> frame_lines(const app::CoroutineEntry& entry) {
  std::size_t width = 0;
  for (const app::FrameEntry& frame : entry.frames) {
    width = std::max(width, function_of(frame).size());
  }
  std::vector<std::string> lines;
  for (const app::FrameEntry& frame : entry.frames) {
    lines.push_back(fmt::format("    {:<{}}  {}", function_of(frame), width, safe(frame.at)));
    if (!frame.awaits.empty()) lines.back() += fmt::format("  awaits {}", safe(frame.awaits));
  }
  return lines;
}

// Coroutines with one stack.
struct Group {
  const app::CoroutineEntry* first = nullptr;
  std::size_t count = 0;
  std::int64_t shortest_ms = 0;
  std::int64_t longest_ms = 0;
};

std::string heading_of(const Group& group, bool is_single) {
  const app::CoroutineEntry& entry = *group.first;
  const std::string route = entry.route.empty() ? "no route" : safe(entry.route);
  if (is_single) {
    std::string text = fmt::format("waits for {}: {}", time_text(group.longest_ms), route);
    if (!entry.request_id.empty()) text += fmt::format(", request {}", safe(entry.request_id));
    return text + fmt::format(", reactor {}", entry.reactor);
  }
  if (group.count == 1)
    return fmt::format("1 waits for {}: {}", time_text(group.longest_ms), route);
  return fmt::format("{} wait for {} to {}: {}", group.count, time_text(group.shortest_ms),
                     time_text(group.longest_ms), route);
}

}  // namespace

std::vector<std::string> stack_lines(const app::CoroutinesDocument& document, bool is_single) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> place_of;
  for (const app::CoroutineEntry& entry : document.coroutines) {
    std::string key = entry.route;
    for (const std::string& line : frame_lines(entry)) key += "\n" + line;
    const auto [place, is_new] = place_of.try_emplace(key, groups.size());
    if (is_new || is_single) groups.push_back({&entry, 0, entry.waiting_ms, entry.waiting_ms});
    Group& group = is_single ? groups.back() : groups[place->second];
    ++group.count;
    group.shortest_ms = std::min(group.shortest_ms, entry.waiting_ms);
    group.longest_ms = std::max(group.longest_ms, entry.waiting_ms);
  }
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    if (!lines.empty()) lines.emplace_back();
    lines.push_back(heading_of(group, is_single));
    for (std::string& line : frame_lines(*group.first)) lines.push_back(std::move(line));
  }
  if (lines.empty()) lines.emplace_back("no coroutine waits");
  const auto shown = static_cast<std::int64_t>(document.coroutines.size());
  if (document.matched > shown) {
    lines.push_back(fmt::format("{} more were left out: choose by --older or --route",
                                document.matched - shown));
  }
  for (const std::int64_t each : document.silent_reactors) {
    lines.push_back(fmt::format("reactor {} did not answer: `katana top` shows its work", each));
  }
  for (const std::int64_t each : document.unlisted_reactors) {
    lines.push_back(fmt::format("the coroutines of reactor {} are not known", each));
  }
  return lines;
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
