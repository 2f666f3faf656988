#include "hello_world_server/laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "katana/core/reactor_on.hpp"
#include "katana/engine/epoll/epoll_engine.hpp"

namespace hello {
namespace {

using namespace katana;
using engine::Decided;
using engine::Undecided;

template <class S>
class UndecidedEngine final : public engine::EpollEngine<engine::Trigger::edge, S, Undecided> {
  using engine::EpollEngine<engine::Trigger::edge, S, Undecided>::EpollEngine;
};

struct Switch {
  std::string_view name;
  bool Undecided::* place;
};
constexpr Switch switches[] = {{"read_again", &Undecided::read_again},
                               {"first_read", &Undecided::first_read},
                               {"deferred_accept", &Undecided::deferred_accept},
                               {"inherited_options", &Undecided::inherited_options},
                               {"delete_before_close", &Undecided::delete_before_close},
                               {"close_at_turn_end", &Undecided::close_at_turn_end}};

struct Count {
  std::string_view name;
  int Undecided::* place;
  int max;
};
constexpr Count counts[] = {
    {"accepts_per_event", &Undecided::accepts_per_event_max, 4096},
    {"events_per_wait", &Undecided::events_per_wait_max, Decided::events_per_wait_max}};

constexpr std::string_view timers = "lazy_timers";

std::unexpected<Error> wrong(std::string_view setting, std::string_view expected) {
  return fail(Code::invalid_argument, fmt::format("--lab '{}': expected {}", setting, expected));
}

std::string known() {
  std::string names;
  for (const Switch& each : switches) names += fmt::format("{}, ", each.name);
  for (const Count& each : counts) names += fmt::format("{}, ", each.name);
  return names + std::string(timers);
}

Result<bool> read_switch(std::string_view setting, std::string_view value) {
  if (value != "on" && value != "off") return wrong(setting, "on or off");
  return value == "on";
}

Result<void> take_back_one(std::string_view setting, Undecided& rules, bool& lazy_timers) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const std::string_view name = setting.substr(0, equals);
  const std::string_view value = setting.substr(std::min(equals + 1, setting.size()));
  if (const auto* found = std::ranges::find(switches, name, &Switch::name);
      found != std::end(switches) || name == timers) {
    const auto read = read_switch(setting, value);
    if (!read) return std::unexpected(read.error());
    (name == timers ? lazy_timers : rules.*found->place) = *read;
    return {};
  }
  const auto* found = std::ranges::find(counts, name, &Count::name);
  if (found == std::end(counts)) return wrong(setting, "KEY=VALUE, KEY one of " + known());
  int number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  if (read.ec != std::errc() || read.ptr != value.data() + value.size() || number < 1 ||
      number > found->max) {
    return wrong(setting, fmt::format("a number from 1 to {}", found->max));
  }
  rules.*found->place = number;
  return {};
}

}  // namespace

Result<void> take_back(const std::vector<std::string>& settings, host::HttpServerOptions& options) {
  if (settings.empty()) return {};
  if (options.engine != host::EngineKind::epoll_edge) {
    return fail(Code::invalid_argument,
                "--lab needs --engine epoll-edge: it is what is taken apart");
  }
  Undecided rules;
  for (const std::string& setting : settings) {
    auto taken = take_back_one(setting, rules, options.reactor.lazy_timers);
    if (!taken) return taken;
  }
  options.make_reactor = [rules](const core::ReactorOptions& reactor,
                                 std::size_t session_bytes_max) -> std::unique_ptr<core::Reactor> {
    return std::make_unique<core::ReactorOn<UndecidedEngine>>(reactor, session_bytes_max, rules);
  };
  return {};
}

}  // namespace hello
