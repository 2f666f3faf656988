#include "katana/testing/world/linearizability.hpp"

#include <fmt/format.h>

namespace katana::testing {

std::string Linearized::describe() const {
  if (holds) return fmt::format("linearizable ({} states)", states);
  if (gave_up) return fmt::format("not judged: more than {} states", states);
  std::string text = "not linearizable; the longest order that fits:\n";
  for (const std::string& each : order) text += "  " + each + "\n";
  text += "and then none of:\n";
  for (const std::string& each : left) text += "  " + each + "\n";
  return text;
}

std::optional<RegisterModel::State> RegisterModel::apply(const State& state,
                                                         const Call& call) const {
  switch (call.kind) {
    case Call::Kind::read:
      if (!call.is_open && state != call.value) return std::nullopt;
      return state;
    case Call::Kind::write: return std::optional<State>(call.value);
    case Call::Kind::exchange: {
      const bool writes = state == call.expected;
      if (!call.is_open && writes != call.exchanged) return std::nullopt;
      return writes ? std::optional<State>(call.value) : std::optional<State>(state);
    }
  }
  return std::nullopt;
}

Linearized linearizable_map(const std::vector<RegisterCall>& calls,
                            const std::map<std::string, std::string>& initial,
                            std::size_t states_max) {
  std::map<std::string, std::vector<RegisterCall>> by_key;
  for (const RegisterCall& each : calls) by_key[each.key].push_back(each);
  Linearized whole{.holds = true};
  for (const auto& [key, of_key] : by_key) {
    RegisterModel model;
    if (const auto found = initial.find(key); found != initial.end()) {
      model.initial_value = found->second;
    }
    Linearized judged = linearizable(model, of_key, states_max);
    judged.states += whole.states;
    if (!judged.holds) return judged;
    whole.states = judged.states;
  }
  return whole;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
