// The faults of a world: by call, and by the plan that its seed draws.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/testing/world/world_core.hpp"

namespace katana::testing {
namespace {

constexpr std::uint64_t plan_salt = 0x706c616e;

}  // namespace

void World::set_path(std::string_view from, std::string_view to, const engine::SimPath& path) {
  const auto first = core_->address_of(from);
  const auto second = core_->address_of(to);
  if (!first || !second) {
    return fail("the test",
                fmt::format("no host '{}': add it before its faults", first ? to : from));
  }
  core_->network.topology().set_path(*first, *second, path);
}

void World::block(std::string_view from, std::string_view to) {
  core_->note("network", fmt::format("nothing arrives from {} at {}", from, to));
  set_path(from, to, {.blocked = true});
}

void World::partition(std::string_view one, std::string_view other) {
  block(one, other);
  block(other, one);
}

void World::heal(std::string_view one, std::string_view other) {
  core_->note("network", fmt::format("{} and {} reach each other", one, other));
  set_path(one, other, {});
  set_path(other, one, {});
}

void World::heal() {
  core_->note("network", "every path is healed");
  core_->network.topology().heal();
}

void World::reset(std::string_view one, std::string_view other) {
  const auto first = core_->address_of(one);
  const auto second = core_->address_of(other);
  if (!first || !second) return fail("the test", fmt::format("no host '{}'", first ? other : one));
  const std::size_t count = core_->network.topology().break_connections(*first, *second);
  core_->note("network", fmt::format("{} connections of {} and {} are reset", count, one, other));
}

void World::resolve(std::string name, const std::string& node) {
  core_->note("network", fmt::format("the name {} means {}", name, node));
  core_->names[std::move(name)] = node;
}

void World::faults(const FaultBounds& bounds) {
  std::vector<std::string> nodes;
  for (const auto& each : core_->nodes) nodes.push_back(each->name());
  std::vector<std::string> hosts = nodes;
  for (const auto& each : core_->clients) hosts.push_back(each->name());
  for (const auto& each : core_->servers) hosts.push_back(each.name);
  const std::uint64_t seed = (core_->options.seed ^ plan_salt) + core_->plans++;
  std::vector<std::string> servers;
  for (const auto& each : core_->servers) servers.push_back(each.name);
  const auto planned = plan_faults(seed, bounds, nodes, hosts, servers, core_->faults_numbered + 1);
  core_->faults_numbered += planned.size();
  for (const PlannedFault& each : planned) {
    if (core_->is_dropped(each.key)) continue;
    core_->plan.push_back(each);
    ++core_->faults_open;
    after(each.at, [this, each] { core_->begin_fault(each); });
  }
}

void detail::WorldCore::begin_fault(const PlannedFault& fault) {
  note("fault", fault.describe());
  is_dirty = true;
  const auto over_after = [this](Duration delay, std::function<void()> f) {
    disturbed(delay);
    world.after(delay, [this, f = std::move(f)] {
      if (f) f();
      --faults_open;
      is_dirty = true;
    });
  };
  WorldNode* const node = find_node(fault.from);
  switch (fault.kind) {
    case FaultKind::kill:
      node->kill(fault.how);
      return over_after(fault.lasts, [node] { node->restart(); });
    case FaultKind::kill_at_call:
      node->kill_at_call(fault.call, fault.turns_later, fault.how, fault.lasts);
      return over_after({}, {});
    case FaultKind::stop: node->stop(); return over_after(fault.lasts, [node] { node->restart(); });
    case FaultKind::partition:
      world.block(fault.from, fault.to);
      if (fault.both_ways) world.block(fault.to, fault.from);
      return over_after(fault.lasts, [this, fault] { world.heal(fault.from, fault.to); });
    case FaultKind::slow_link: {
      const auto us = static_cast<std::uint32_t>(fault.latency.ns / 1'000);
      world.set_path(fault.from, fault.to, {.extra_us = {us, us + us / 4}, .loss = fault.loss});
      return over_after(fault.lasts, [this, fault] { world.heal(fault.from, fault.to); });
    }
    case FaultKind::reset:
      world.reset(fault.from, fault.to);
      return over_after(milliseconds(1), {});
    case FaultKind::clock_jump:
      node->set_clock_skew(fault.jump);
      return over_after(milliseconds(1), {});
    case FaultKind::reload: (void)node->reload(); return over_after({}, {});
    case FaultKind::hand_over: node->hand_over(); return over_after(milliseconds(1), {});
    case FaultKind::outage: {
      WorldServer& server = *find_server(fault.from)->server;
      server.go_down();
      return over_after(fault.lasts, [&server] { server.come_back(); });
    }
    case FaultKind::fail_over:
      note(fault.from, "lost " + find_server(fault.from)->server->fail_over());
      return over_after(milliseconds(1), {});
  }
}

bool World::was_disturbed(Instant from, Instant to) const noexcept {
  return std::ranges::any_of(core_->disturbances, [&](const auto& each) {
    return each.first <= to && from <= each.second;
  });
}

const std::vector<PlannedFault>& World::planned() const noexcept { return core_->plan; }

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
