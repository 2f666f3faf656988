#include "lab/e2e/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "lab/micro/micro.hpp"

namespace e2e {
namespace {

Settings chosen;

struct Kept {
  ServerCommand command;
  std::optional<ServerProcess> server;
};
Kept kept;

bool same(const ServerCommand& one, const ServerCommand& other) {
  return one.arguments == other.arguments && one.preload == other.preload;
}

// Google Benchmark keeps a counter's name only if it is one word.
std::string word(std::string text) {
  std::ranges::replace(text, ' ', '_');
  return text;
}

void tell(benchmark::State& state, const Driven& driven) {
  state.counters["req_per_s"] = driven.rate();
  state.counters["p50_us"] = driven.percentile_us(50);
  state.counters["p99_us"] = driven.percentile_us(99);
  state.counters["cpu_us"] = driven.cpu_us();
  state.counters["cpu_percent"] = driven.seconds > 0 ? 100 * driven.cpu_s / driven.seconds : 0;
  state.counters["rss_mib"] = driven.after.rss_mib;
  state.counters["generator_percent"] = 100 * driven.generator_share;
}

}  // namespace

const Settings& settings() noexcept { return chosen; }
void set_quick() noexcept { chosen.quick = true; }

ServerProcess* kept_server(benchmark::State& state, const ServerCommand& command) {
  if (kept.server && same(kept.command, command)) return &*kept.server;
  forget_server();
  auto server = ServerProcess::start(command);
  if (!server) {
    state.SkipWithError(server.error().describe().c_str());
    return nullptr;
  }
  kept = {command, std::move(*server)};
  return &*kept.server;
}

void forget_server() noexcept { kept = {}; }

AsksOf always(Ask ask) {
  return
      [ask = std::move(ask)](const ServerProcess&, std::uint64_t) { return std::vector<Ask>{ask}; };
}

void time_requests(benchmark::State& state, const ServerCommand& command, const AsksOf& asks_of,
                   std::uint32_t connections) {
  ServerProcess* const server = kept_server(state, command);
  if (server == nullptr) return;
  const auto count = static_cast<std::uint64_t>(state.max_iterations);
  while (state.KeepRunningBatch(state.max_iterations)) {
    const Driven driven = drive(*server, {count, connections, asks_of(*server, count)});
    state.SetIterationTime(driven.seconds);
    if (driven.failures != 0 || driven.requests != count) {
      const std::string why = fmt::format("{} of {} requests were not answered with 2xx",
                                          count - driven.requests, count);
      state.SkipWithError(why.c_str());
      forget_server();
      return;
    }
    tell(state, driven);
  }
  state.SetItemsProcessed(state.iterations());
}

void compare(benchmark::State& state, const std::string& unit, std::vector<Compared> subjects) {
  std::vector<std::vector<double>> costs(subjects.size()), ratios(subjects.size());
  for (auto unused : state) {
    (void)unused;
    const std::int64_t begin_ns = micro::now_ns();
    for (std::size_t index = 0; index < subjects.size(); ++index) {
      try {
        costs[index].push_back(subjects[index].cost());
      } catch (const Failed& failed) {
        state.SkipWithError(fmt::format("{}: {}", subjects[index].name, failed.why).c_str());
        return;
      }
      ratios[index].push_back(costs[index].back() / costs[0].back());
    }
    state.SetIterationTime(static_cast<double>(micro::now_ns() - begin_ns) / 1e9);
  }
  for (std::size_t index = 0; index < subjects.size(); ++index) {
    const std::string name = word(subjects[index].name);
    state.counters[fmt::format("{}_{}", name, unit)] = micro::median(costs[index]);
    if (index == 0) continue;
    std::ranges::sort(ratios[index]);
    const std::size_t outside = ratios[index].size() / 40;
    state.counters[name + "_ratio"] = micro::median(ratios[index]);
    state.counters[name + "_low"] = ratios[index][outside];
    state.counters[name + "_high"] = ratios[index][ratios[index].size() - 1 - outside];
  }
  state.counters["rounds"] = static_cast<double>(state.iterations());
}

std::shared_ptr<ServerProcess> started(const ServerCommand& command) {
  auto server = ServerProcess::start(command);
  if (!server) throw Failed{server.error().describe()};
  return std::make_shared<ServerProcess>(std::move(*server));
}

std::function<double()> cost_of(std::shared_ptr<ServerProcess> server, Requests what) {
  return [server = std::move(server), what = std::move(what)] {
    const Driven driven =
        drive(*server, {what.count, what.connections, what.asks_of(*server, what.count)});
    if (driven.failures != 0 || driven.requests != what.count) {
      throw Failed{fmt::format("{} requests failed", driven.failures)};
    }
    return what.of == Of::processor ? driven.cpu_us() : 1e6 / driven.rate();
  };
}

void compare_made(benchmark::State& state, const std::string& unit,
                  const std::function<std::vector<Compared>()>& make) {
  try {
    compare(state, unit, make());
  } catch (const Failed& failed) {
    state.SkipWithError(failed.why.c_str());
  }
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
