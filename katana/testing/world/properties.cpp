#include "katana/testing/world/properties.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/http/server/http_server.hpp"
#include "katana/net/reactor/reactor.hpp"

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
      if (each.client == "test") continue;
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

World::Property jobs_are_done_and_fenced(std::function<bool(const Operation&)> submit,
                                         std::function<std::string(const Operation&)> id,
                                         std::function<std::vector<JobRun>(World&)> runs) {
  return [submit = std::move(submit), id = std::move(id),
          runs = std::move(runs)](World& world) -> std::string {
    std::map<std::string, std::uint64_t> newest;
    for (const JobRun& each : runs(world)) {
      const auto [known, is_first] = newest.emplace(each.id, each.fence);
      if (!is_first && each.fence < known->second) {
        return fmt::format("a run of job '{}' with token {} came after one with token {}", each.id,
                           each.fence, known->second);
      }
      known->second = each.fence;
    }
    for (const Operation& each : world.history()) {
      if (!each.succeeded() || !submit(each) || newest.contains(id(each))) continue;
      return fmt::format("{} was acknowledged with {}, and job '{}' was never done", each.key(),
                         each.status, id(each));
    }
    return {};
  };
}

World::Property descriptors_return_to_rest() {
  return [](World& world) -> std::string {
    const std::size_t alone = world.ends_alone();
    return alone == 0
               ? std::string()
               : fmt::format("{} ends of connections are open, and their other end is gone", alone);
  };
}

World::Property memory_returns_to_rest(std::size_t bytes_max) {
  return [bytes_max](World& world) -> std::string {
    for (const std::string& name : world.node_names()) {
      WorldNode& node = world.node(name);
      if (!node.is_up()) continue;
      const net::MemoryBudget used = node.program().server().first_reactor().memory_used();
      const std::size_t bytes = used.output + used.carry + used.held;
      if (bytes > bytes_max) {
        return fmt::format("'{}' still uses {} bytes: output {}, received {}, held {}", name, bytes,
                           used.output, used.carry, used.held);
      }
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
