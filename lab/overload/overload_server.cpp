// overload_server: a service whose handler costs a known amount of CPU time, with load_shedding()
// or without: what lab/overload.py asks for more than it can answer.
#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "apps/command_line.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/load_shedding.hpp"
#include "katana/http/server/http_server.hpp"

using namespace katana;

namespace {

// Rounds of arithmetic that nothing can leave out.
std::uint64_t work(std::uint64_t rounds) {
  std::uint64_t state = rounds | 1;
  for (std::uint64_t left = rounds; left > 0; --left) state = state * 6364136223846793005u + left;
  return state;
}

// The number of rounds that take about a microsecond on this machine.
std::uint64_t rounds_per_us() {
  constexpr std::uint64_t rounds = 5'000'000;
  const auto begin = std::chrono::steady_clock::now();
  static std::atomic<std::uint64_t> sink;
  sink = work(rounds);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return static_cast<std::uint64_t>(rounds / took.count()) + 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 8080;
  std::uint64_t work_us = 100;
  bool sheds = false;
  CLI::App app("Serve a handler that costs CPU time, for lab/overload.py.", "overload_server");
  app.add_option("--port", port, "port on 127.0.0.1")->capture_default_str();
  app.add_option("--work-us", work_us, "CPU time of a request, approximate")->capture_default_str();
  app.add_flag("--shed", sheds, "refuse requests that cannot be answered in time: load_shedding()");
  if (const auto status = command_line::parse(app, argc, argv)) return *status;

  const std::uint64_t rounds = work_us * rounds_per_us();
  Router router;
  router.get("/health", [] { return Reply(200); });
  if (sheds) router.use(load_shedding());
  router.get("/work", [rounds] { return Reply::text(format_text("{}", work(rounds))); });
  const Result<Service> service = std::move(router).build();
  if (!service) return std::puts(service.error().describe().c_str()), 1;
  server::HttpServer server({.port = port, .reactors = 1}, *service);
  if (auto started = server.start(); !started) {
    return std::puts(started.error().describe().c_str()), 1;
  }
  server.run();
}

// SPDX-License-Identifier: Apache-2.0
