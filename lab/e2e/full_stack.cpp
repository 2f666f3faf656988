// What does a program of all seven systems cost, which of them costs what, and how soon does it
// answer?
#include <fmt/format.h>

#include <map>

#include "lab/e2e/bench.hpp"
#include "lab/e2e/places.hpp"
#include "lab/micro/micro.hpp"

namespace e2e {
namespace {

// ---- endpoints --------------------------------------------------------------------------------

void add_full_stack_endpoints() {
  StackOptions options = with_systems(7);
  options.rows = 10'000;
  const ServerCommand command = serving(options);
  const std::pair<const char*, Ask> asks[] = {{"health", {.path = "/health"}},
                                              {"users", {.path = "/users?limit=20&after=5000"}},
                                              {"user", {.path = "/users/4711"}},
                                              {"metrics", {.path = "/metrics"}}};
  for (const auto& [name, ask] : asks) {
    by_request(benchmark::RegisterBenchmark(fmt::format("FullStack/GET_{}", name).c_str(),
                                            [command, ask = ask](benchmark::State& state) {
                                              time_requests(state, command, always(ask));
                                            }));
  }
}

// ---- one system more --------------------------------------------------------------------------

std::vector<Compared> cumulative() {
  const std::uint64_t count = settings().requests(8'000);
  std::vector<Compared> subjects;
  for (int systems = 1; systems <= 7; ++systems) {
    subjects.push_back({fmt::format("{}_{}", systems, system_added(systems)),
                        cost_of(started(serving(with_systems(systems))),
                                {count, always({.path = "/plaintext"})})});
  }
  return subjects;
}

// ---- the start --------------------------------------------------------------------------------

// From fork() to the first reply.
void start_up(benchmark::State& state, const ServerCommand& command, const Ask& first) {
  std::map<std::string, std::vector<double>> phases;
  for (auto unused : state) {
    (void)unused;
    const std::int64_t begin_ns = micro::now_ns();
    auto server = ServerProcess::start(command);
    if (!server) {
      state.SkipWithError(server.error().describe().c_str());
      return;
    }
    const bool answered = !fetch(server->port(), first).empty();
    state.SetIterationTime(static_cast<double>(micro::now_ns() - begin_ns) / 1e9);
    if (!answered) {
      state.SkipWithError("its first reply was not 200");
      return;
    }
    phases["ready"].push_back(server->ready_ms());
    for (const Phase& phase : phases_in(server->ready_output()))
      phases[phase.name].push_back(phase.ms);
  }
  for (auto& [name, values] : phases) state.counters[name + "_ms"] = micro::median(values);
}

void add_start_up() {
  for (int systems = 1; systems <= 7; ++systems) {
    in_rounds(benchmark::RegisterBenchmark(
        fmt::format("FullStack/start_up/{}_systems", systems).c_str(),
        [command = serving(with_systems(systems))](benchmark::State& state) {
          start_up(state, command, {.path = "/health"});
        }));
  }
}

}  // namespace

void add_full_stack() {
  add_full_stack_endpoints();
  in_rounds(benchmark::RegisterBenchmark(
      "FullStack/one_system_more", [](auto& state) { compare_made(state, "cpu_us", cumulative); }));
  add_start_up();
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
