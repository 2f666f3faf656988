#include "katana/testing/world/fault_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "katana/base/values/random.hpp"

namespace katana::testing {
namespace {

constexpr std::array<const char*, fault_kinds> kind_names{
    "kill",       "kill at call", "stop",      "partition", "slow link", "reset",
    "clock jump", "reload",       "hand over", "outage",    "fail over"};

std::int64_t ms_of(Duration time) noexcept { return time.ns / 1'000'000; }

Duration draw_time(Random& random, Duration max) {
  return nanoseconds(static_cast<std::int64_t>(
      random.between(0, static_cast<std::uint64_t>(std::max<std::int64_t>(max.ns, 0)))));
}

const std::string& draw_name(Random& random, const std::vector<std::string>& names_of) {
  return names_of[random.below(names_of.size())];
}

unsigned count_max(const FaultBounds& bounds, FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::kill: return bounds.kills_max;
    case FaultKind::kill_at_call: return bounds.kills_at_call_max;
    case FaultKind::stop: return bounds.stops_max;
    case FaultKind::partition: return bounds.partitions_max;
    case FaultKind::slow_link: return bounds.slow_links_max;
    case FaultKind::reset: return bounds.resets_max;
    case FaultKind::clock_jump: return bounds.clock_jumps_max;
    case FaultKind::reload: return bounds.reloads_max;
    case FaultKind::hand_over: return bounds.hand_overs_max;
    case FaultKind::outage: return bounds.outages_max;
    case FaultKind::fail_over: return bounds.fail_overs_max;
  }
  return 0;
}

bool is_of_path(FaultKind kind) noexcept {
  return kind == FaultKind::partition || kind == FaultKind::slow_link || kind == FaultKind::reset;
}

bool is_of_server(FaultKind kind) noexcept {
  return kind == FaultKind::outage || kind == FaultKind::fail_over;
}

PlannedFault draw_fault(Random& random, FaultKind kind, const FaultBounds& bounds,
                        const std::vector<std::string>& nodes,
                        const std::vector<std::string>& hosts) {
  PlannedFault fault;
  fault.kind = kind;
  fault.at = draw_time(random, bounds.within);
  if (is_of_path(kind)) {
    fault.from = draw_name(random, hosts);
    do fault.to = draw_name(random, hosts);
    while (fault.to == fault.from);
  } else {
    fault.from = draw_name(random, nodes);
  }
  fault.both_ways = random.chance(512);
  fault.how = random.chance(512) ? Crash::power : Crash::process;
  fault.call = random.between(1, std::max<std::uint64_t>(bounds.calls_max, 1));
  fault.turns_later = static_cast<unsigned>(random.below(6));
  fault.latency = draw_time(random, bounds.latency_max);
  fault.loss = random.chance(512) ? static_cast<std::uint32_t>(random.between(1, 128)) : 0;
  fault.jump = draw_time(random, bounds.clock_jump_max);
  if (random.chance(512)) fault.jump = Duration{-fault.jump.ns};
  const Duration lasts_max = kind == FaultKind::partition   ? bounds.partition_max
                             : kind == FaultKind::slow_link ? bounds.slow_link_max
                                                            : bounds.down_max;
  fault.lasts = draw_time(random, lasts_max);
  return fault;
}

}  // namespace

const char* fault_name(FaultKind kind) noexcept {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::string PlannedFault::describe() const {
  switch (kind) {
    case FaultKind::kill:
      return fmt::format("{}: {} {}, again after {} ms", key,
                         how == Crash::power ? "power loss of" : "kill", from, ms_of(lasts));
    case FaultKind::kill_at_call:
      return fmt::format("{}: {} {} at call {} of its database, again after {} ms", key,
                         how == Crash::power ? "power loss of" : "kill", from, call, ms_of(lasts));
    case FaultKind::stop: return fmt::format("{}: stop {}, which drains, and restart", key, from);
    case FaultKind::partition:
      return fmt::format("{}: partition {} {} {} for {} ms", key, from, both_ways ? "<->" : "->",
                         to, ms_of(lasts));
    case FaultKind::slow_link:
      return fmt::format("{}: slow link {} -> {}: {} ms more, loss {}/1024, for {} ms", key, from,
                         to, ms_of(latency), loss, ms_of(lasts));
    case FaultKind::reset:
      return fmt::format("{}: reset the connections between {} and {}", key, from, to);
    case FaultKind::clock_jump:
      return fmt::format("{}: the clock of {} is {} ms {}", key, from,
                         jump.ns < 0 ? -ms_of(jump) : ms_of(jump), jump.ns < 0 ? "back" : "ahead");
    case FaultKind::reload: return fmt::format("{}: {} reads its settings again", key, from);
    case FaultKind::hand_over:
      return fmt::format("{}: a new process of {} serves while the former one drains", key, from);
    case FaultKind::outage: return fmt::format("{}: {} is down for {} ms", key, from, ms_of(lasts));
    case FaultKind::fail_over: return fmt::format("{}: fail-over of {}", key, from);
  }
  return key;
}

std::vector<PlannedFault> plan_faults(std::uint64_t seed, const FaultBounds& bounds,
                                      const std::vector<std::string>& nodes,
                                      const std::vector<std::string>& hosts,
                                      const std::vector<std::string>& servers,
                                      std::size_t first_number) {
  const auto& crashing = bounds.nodes.empty() ? nodes : bounds.nodes;
  const auto& disturbed = bounds.hosts.empty() ? hosts : bounds.hosts;
  std::vector<PlannedFault> plan;
  for (std::size_t index = 0; index < fault_kinds; ++index) {
    const auto kind = static_cast<FaultKind>(index);
    Random random(seed * 16 + index);
    const auto& ended = is_of_server(kind) ? servers : crashing;
    const bool has_places = is_of_path(kind) ? disturbed.size() > 1 : !ended.empty();
    if (count_max(bounds, kind) == 0 || !has_places) continue;
    const auto count = random.between(0, count_max(bounds, kind));
    for (std::uint64_t each = 0; each < count; ++each) {
      plan.push_back(draw_fault(random, kind, bounds, ended, disturbed));
      plan.back().key = fmt::format("f{}", first_number++);
    }
  }
  return plan;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
