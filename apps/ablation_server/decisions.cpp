#include "ablation_server/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "katana/http/server/engines.hpp"
#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/engine/uring/options.hpp"
#include "katana/net/reactor/reactor_on.hpp"

namespace ablation {
namespace {

using namespace katana;
using engine::Decided;
using engine::Undecided;

template <class S>
class UndecidedEngine final : public engine::EpollEngine<engine::Trigger::edge, S, Undecided> {
  using engine::EpollEngine<engine::Trigger::edge, S, Undecided>::EpollEngine;
};

// The decisions of the engine, with the defaults that a setting can change.
struct Rules {
  Undecided epoll;
  engine::UringOptions uring;
  bool lazy_timers = true;
};

struct Decision {
  std::string_view name;
  int max;  // its value is 1 … max; 0: it is on or off, as 1 or 0
  void (*take)(Rules& rules, int value);
};

constexpr int on_or_off = 0;

template <bool Undecided::* member>
constexpr Decision epoll_switch(std::string_view name) {
  return {name, on_or_off, [](Rules& rules, int value) { rules.epoll.*member = value != 0; }};
}
template <bool engine::UringRules::* member>
constexpr Decision uring_switch(std::string_view name) {
  return {name, on_or_off, [](Rules& rules, int value) { rules.uring.rules.*member = value != 0; }};
}

constexpr Decision lazy_timers{"lazy_timers", on_or_off,
                               [](Rules& rules, int value) { rules.lazy_timers = value != 0; }};

constexpr Decision of_epoll[] = {
    epoll_switch<&Undecided::read_again>("read_again"),
    epoll_switch<&Undecided::first_read>("first_read"),
    epoll_switch<&Undecided::deferred_accept>("deferred_accept"),
    epoll_switch<&Undecided::inherited_options>("inherited_options"),
    epoll_switch<&Undecided::delete_before_close>("delete_before_close"),
    epoll_switch<&Undecided::close_at_turn_end>("close_at_turn_end"),
    {"accepts_per_event", 4096,
     [](Rules& rules, int value) { rules.epoll.accepts_per_event_max = value; }},
    {"events_per_wait", Decided::events_per_wait_max,
     [](Rules& rules, int value) { rules.epoll.events_per_wait_max = value; }},
    lazy_timers};

constexpr Decision of_uring[] = {
    uring_switch<&engine::UringRules::deferred_work>("deferred_work"),
    uring_switch<&engine::UringRules::enter_again>("enter_again"),
    uring_switch<&engine::UringRules::registered_ring>("registered_ring"),
    uring_switch<&engine::UringRules::multishot_receive>("multishot_receive"),
    uring_switch<&engine::UringRules::first_receive_single>("first_receive_single"),
    uring_switch<&engine::UringRules::quiet_entries>("quiet_entries"),
    {"multishot_accept", on_or_off,
     [](Rules& rules, int value) {
       if (value == 0) rules.uring.rules.multishot_slots_min = UINT32_MAX;
     }},
    {"shared_buffers", on_or_off,
     [](Rules& rules, int value) { rules.uring.incremental = value != 0; }},
    // No output fits a block of one byte, so each goes by its own system call.
    {"staged_output", on_or_off,
     [](Rules& rules, int value) {
       if (value == 0) rules.uring.output_bytes = 1;
     }},
    {"receive_kib", 64 * 1024,
     [](Rules& rules, int value) {
       rules.uring.receive_bytes = static_cast<std::size_t>(value) * 1024;
     }},
    {"completions", 32 * 1024,
     [](Rules& rules, int value) { rules.uring.completions = static_cast<std::uint32_t>(value); }},
    {"submissions", 32 * 1024,
     [](Rules& rules, int value) { rules.uring.submissions = static_cast<std::uint32_t>(value); }},
    {"collect_us", 10'000,
     [](Rules& rules, int value) {
       rules.uring.batch = 32;
       rules.uring.collect = microseconds(value);
     }},
    lazy_timers};

std::unexpected<Error> wrong(std::string_view setting, std::string_view expected) {
  return fail(Code::invalid_argument,
              fmt::format("--decision '{}': expected {}", setting, expected));
}

std::string names_of(std::span<const Decision> decisions) {
  std::string names;
  for (const Decision& each : decisions) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  }
  return names;
}

Result<int> read_value(const Decision& decision, std::string_view setting, std::string_view value) {
  if (decision.max == on_or_off) {
    if (value != "on" && value != "off") return wrong(setting, "on or off");
    return value == "on" ? 1 : 0;
  }
  int number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 1 || number > decision.max) {
    return wrong(setting, fmt::format("a number from 1 to {}", decision.max));
  }
  return number;
}

Result<void> take_back_one(std::string_view setting, std::span<const Decision> decisions,
                           Rules& rules) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const auto found = std::ranges::find(decisions, setting.substr(0, equals), &Decision::name);
  if (found == decisions.end()) {
    return wrong(setting, "KEY=VALUE, KEY one of " + names_of(decisions));
  }
  const auto value =
      read_value(*found, setting, setting.substr(std::min(equals + 1, setting.size())));
  if (!value) return std::unexpected(value.error());
  found->take(rules, *value);
  return {};
}

}  // namespace

Result<void> take_back(const std::vector<std::string>& settings,
                       server::HttpServerOptions& options) {
  if (settings.empty()) return {};
  const bool is_uring = options.engine == server::EngineKind::io_uring;
  if (!is_uring && options.engine != server::EngineKind::epoll_edge) {
    return fail(Code::invalid_argument,
                "--decision needs --engine epoll-edge or io_uring: they are what is taken apart");
  }
  const auto decisions = is_uring ? std::span<const Decision>(of_uring) : of_epoll;
  Rules rules;
  for (const std::string& setting : settings) {
    auto taken = take_back_one(setting, decisions, rules);
    if (!taken) return taken;
  }
  options.reactor.lazy_timers = rules.lazy_timers;
  options.make_reactor = [rules, is_uring](
                             const net::ReactorOptions& reactor,
                             std::size_t session_bytes_max) -> std::unique_ptr<net::Reactor> {
    if (is_uring) return server::make_uring_reactor(reactor, session_bytes_max, rules.uring);
    return std::make_unique<net::ReactorOn<UndecidedEngine>>(reactor, session_bytes_max,
                                                             rules.epoll);
  };
  return {};
}

}  // namespace ablation

// SPDX-License-Identifier: Apache-2.0
