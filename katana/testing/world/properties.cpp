#include "katana/testing/world/properties.hpp"

#include <fmt/format.h>

#include <utility>

namespace katana::testing {

World::Property acknowledged_are_kept(KeptWrites writes) {
  return [writes = std::move(writes)](World& world) -> std::string {
    const std::set<std::string> present = writes.present(world);
    std::set<std::string> asked;
    for (const Operation& each : world.history()) {
      if (!writes.write(each)) continue;
      const std::string id = writes.id(each);
      if (each.succeeded() && !present.contains(id)) {
        return fmt::format("{} was acknowledged with {}, and '{}' is not there", each.key(),
                           each.status, id);
      }
      const bool failed_late = each.outcome == Outcome::replied && each.status >= 500;
      if (each.succeeded() || each.is_open() || failed_late) asked.insert(id);
    }
    for (const std::string& each : present) {
      if (writes.only_these && !asked.contains(each)) {
        return fmt::format("'{}' is there, and no request that may have had an effect wrote it",
                           each);
      }
    }
    return {};
  };
}

World::Property replies_stay_with_their_client(std::map<std::string, std::string> marks) {
  return [marks = std::move(marks)](World& world) -> std::string {
    for (const Operation& each : world.history()) {
      for (const auto& [client, mark] : marks) {
        if (client == each.client || each.reply.find(mark) == std::string::npos) continue;
        return fmt::format("the reply to {} has '{}', which is {}'s: {}", each.key(), mark, client,
                           each.reply);
      }
    }
    return {};
  };
}

World::Property at_most_once(std::function<std::map<std::string, std::size_t>(World&)> effects) {
  return [effects = std::move(effects)](World& world) -> std::string {
    for (const auto& [id, count] : effects(world)) {
      if (count > 1) return fmt::format("'{}' had {} effects", id, count);
    }
    return {};
  };
}

World::Property nothing_is_stuck() {
  return [](World& world) -> std::string {
    const Duration patience = world.options().request_timeout;
    for (const Operation& each : world.history()) {
      const bool gave_up =
          each.outcome == Outcome::unknown && each.returned - each.invoked >= patience;
      if (!gave_up || world.was_disturbed(each.invoked, each.returned)) continue;
      return fmt::format("{} {} {}{} got no reply within {} s, without a fault", each.key(),
                         each.method, each.node, each.target, patience.ns / 1'000'000'000);
    }
    return {};
  };
}

World::Property linearizable_registers(
    std::function<std::vector<RegisterCall>(const History&)> read_calls,
    std::map<std::string, std::string> initial) {
  return [read_calls = std::move(read_calls),
          initial = std::move(initial)](World& world) -> std::string {
    const Linearized judged = linearizable_map(read_calls(world.history()), initial);
    return judged.holds ? std::string() : judged.describe();
  };
}

RegisterCall register_call(const Operation& operation, RegisterCall::Kind kind, std::string key,
                           std::optional<std::string> value) {
  RegisterCall call;
  call.invoked = operation.invoked;
  call.returned = operation.returned;
  call.is_open = operation.is_open();
  call.kind = kind;
  call.key = std::move(key);
  call.value = std::move(value);
  call.text = fmt::format("{} {} {}{} -> {} {}", operation.key(), operation.method, operation.node,
                          operation.target, operation.status, operation.reply);
  return call;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
