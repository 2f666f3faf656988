// What does the full-stack application cost, as it is shipped, endpoint by endpoint, and how soon
// does it answer? (Left out where it has not been built.)
#include <fmt/format.h>

#include <map>
#include <sstream>

#include "lab/e2e/bench.hpp"
#include "lab/e2e/places.hpp"
#include "lab/micro/micro.hpp"

namespace e2e {
namespace {

ServerCommand application(const std::string& program) {
  const std::string folder = folder_for("application");
  return {.arguments = {program, "--port", "0", "--set", "http.reactors=1", "--set",
                        fmt::format("database.url=sqlite:{}/katana.db", folder), "--set",
                        "log.console=false", "--set", fmt::format("log.file={}/app.log", folder)},
          .cpus = server_cpus()};
}

std::vector<Ask> add_users(const ServerProcess&, std::uint64_t count) {
  static std::uint64_t number = 0;
  std::vector<Ask> asks;
  for (std::uint64_t index = 0; index < count; ++index) {
    asks.push_back(
        {.method = "POST",
         .path = "/api/users",
         .body = fmt::format(R"({{"name":"user {0}","email":"user{0}@example.org"}})", ++number)});
  }
  return asks;
}

// Times the requests, and counts the resources that the server uses meanwhile.
void time_with_resources(benchmark::State& state, const ServerCommand& command,
                         const AsksOf& asks_of, std::uint32_t connections) {
  ServerProcess* const server = kept_server(state, command);
  if (server == nullptr) return;
  const katana::lab::Usage before = server->usage();
  const std::int64_t begin_ns = micro::now_ns();
  time_requests(state, command, asks_of, connections);
  if (state.error_occurred()) return;
  const katana::lab::Usage after = server->usage();
  const double seconds = static_cast<double>(micro::now_ns() - begin_ns) / 1e9;
  state.counters["descriptors"] = static_cast<double>(after.descriptors);
  state.counters["disk_mib_per_s"] =
      static_cast<double>(after.written_bytes - before.written_bytes) / 1024 / 1024 / seconds;
}

void add_endpoints(const std::string& program) {
  const ServerCommand command = application(program);
  const std::tuple<const char*, AsksOf, std::uint32_t> endpoints[] = {
      {"POST_api_users", add_users, 64},
      {"GET_health", always({.path = "/health"}), 64},
      {"GET_api_users", always({.path = "/api/users?limit=20"}), 64},
      {"GET_api_user", always({.path = "/api/users/1"}), 64},
      {"POST_api_data",
       always({.method = "POST", .path = "/api/data", .body = R"({"kind":"test","value":1})"}), 64},
      {"GET_metrics", always({.path = "/metrics"}), 4}};
  for (const auto& [name, asks, connections] : endpoints) {
    by_request(benchmark::RegisterBenchmark(
        fmt::format("FullStack/application/{}", name).c_str(),
        [command, asks = asks, connections = connections](benchmark::State& state) {
          time_with_resources(state, command, asks, connections);
        }));
  }
}

// katana_startup_seconds{part="database"} 0.0123
std::vector<Phase> parts_of(const std::string& metrics) {
  constexpr std::string_view name = "katana_startup_seconds{part=\"";
  std::vector<Phase> parts;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t end = line.find('"', name.size());
    const std::size_t value = line.rfind(' ');
    if (end == std::string::npos || value == std::string::npos) continue;
    parts.push_back({line.substr(name.size(), end - name.size()),
                     1e3 * std::strtod(line.c_str() + value, nullptr)});
  }
  return parts;
}

// From fork() to the first reply, the second time it is started: the database is there.
void start_up(benchmark::State& state, const ServerCommand& command) {
  forget_server();
  std::map<std::string, std::vector<double>> parts;
  if (auto first = ServerProcess::start(command); !first) {
    state.SkipWithError(first.error().describe().c_str());
  }
  for (auto unused : state) {
    (void)unused;
    const std::int64_t begin_ns = micro::now_ns();
    auto server = ServerProcess::start(command);
    const bool answered = server && !fetch(server->port(), {.path = "/health"}).empty();
    state.SetIterationTime(static_cast<double>(micro::now_ns() - begin_ns) / 1e9);
    if (!answered) {
      state.SkipWithError(server ? "its first reply was not 200"
                                 : server.error().describe().c_str());
      return;
    }
    parts["ready"].push_back(server->ready_ms());
    for (const Phase& part : parts_of(fetch(server->port(), {.path = "/metrics"}))) {
      parts[part.name].push_back(part.ms);
    }
  }
  for (auto& [name, values] : parts) state.counters[name + "_ms"] = micro::median(values);
}

}  // namespace

void add_application() {
  const std::string program = katana::lab::sibling_program("fullstack");
  if (program.empty()) return;
  add_endpoints(program);
  in_rounds(benchmark::RegisterBenchmark(
      "FullStack/application/start_up",
      [command = application(program)](benchmark::State& state) { start_up(state, command); }));
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
