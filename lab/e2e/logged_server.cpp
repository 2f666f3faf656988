// What does a record of every request cost a server? Compared are no record, a record by a thread
// of the log (text or binary), and a record before the reply.
#include <fmt/format.h>

#include <utility>

#include "lab/e2e/bench.hpp"
#include "lab/e2e/places.hpp"

namespace e2e {
namespace {

StackOptions logged(Logging logging) {
  StackOptions options;
  options.logging = logging;
  options.folder = folder_for("logged");
  return options;
}

// Every request has its record, or is counted as dropped.
void check_records(benchmark::State& state, const ServerCommand& command) {
  ServerProcess* const server = kept_server(state, command);
  if (server == nullptr) return;
  const double written = statistic(server->port(), "log_records");
  const double dropped = statistic(server->port(), "log_dropped");
  state.counters["dropped_percent"] = 100 * dropped / static_cast<double>(state.iterations());
  if (written + dropped < static_cast<double>(state.iterations())) {
    const std::string why = fmt::format("{} records of {} requests", written, state.iterations());
    state.SkipWithError(why.c_str());
  }
}

void add_one(const char* name, Logging logging) {
  by_request(benchmark::RegisterBenchmark(
      fmt::format("LoggedServer/{}", name).c_str(),
      [command = serving(logged(logging)), logging](benchmark::State& state) {
        time_requests(state, command, always({.path = "/plaintext"}));
        if (!state.error_occurred() && logging != Logging::off) check_records(state, command);
      }));
}

// Compared with a request that does nothing: the largest possible share of a record.
std::vector<Compared> subjects() {
  const Requests what{.count = settings().requests(16'000),
                      .asks_of = always({.path = "/plaintext"})};
  std::vector<Compared> found;
  found.push_back({"off", cost_of(started(serving(logged(Logging::off))), what)});
  found.push_back({"background", cost_of(started(serving(logged(Logging::background))), what)});
  found.push_back({"binary", cost_of(started(serving(logged(Logging::binary))), what)});
  found.push_back({"synchronous", cost_of(started(serving(logged(Logging::synchronous))), what)});
  return found;
}

// Compared with a request that does something: a page of 20 users out of a database.
std::vector<Compared> pages() {
  const Requests what{.count = settings().requests(8'000),
                      .asks_of = always({.path = "/users?limit=20&after=500"})};
  std::vector<Compared> found;
  for (const auto& [name, logging] :
       {std::pair("off", Logging::off), std::pair("background", Logging::background),
        std::pair("binary", Logging::binary)}) {
    StackOptions options = logged(logging);
    options.database = true;
    options.rows = 1'000;
    found.push_back({name, cost_of(started(serving(options)), what)});
  }
  return found;
}

}  // namespace

void add_logged_server() {
  add_one("off", Logging::off);
  add_one("background", Logging::background);
  add_one("binary", Logging::binary);
  add_one("synchronous", Logging::synchronous);
  in_rounds(benchmark::RegisterBenchmark(
      "LoggedServer/cost_of_logging",
      [](benchmark::State& state) { compare_made(state, "cpu_us", subjects); }));
  in_rounds(benchmark::RegisterBenchmark(
      "LoggedServer/cost_of_logging_pages",
      [](benchmark::State& state) { compare_made(state, "cpu_us", pages); }));
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
