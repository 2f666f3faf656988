// e2e_benchmarks: servers made of all systems, measured from outside, over the loopback.
//
//   e2e_benchmarks [--quick] [any flag of Google Benchmark]
//   e2e_benchmarks --serve [KEY=VALUE …]       the server that is measured
//
// docs/guides/benchmarks.md says what each benchmark asks and how to read it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/failure.hpp"
#include "katana/http/server/http_server.hpp"
#include "lab/e2e/bench.hpp"
#include "lab/e2e/places.hpp"
#include "lab/e2e/stack.hpp"

namespace {

constexpr const char* program = "e2e_benchmarks";

int fail(int status, std::string_view message) {
  fmt::print(stderr, "{}: {}\n", program, message);
  return status;
}

struct Flags {
  bool quick = false;
  bool serves = false;
  std::vector<std::string> settings;   // the server's settings
  std::vector<std::string> remaining;  // Google Benchmark's
};

std::string own_help;
void print_help() {
  fmt::print("{}\n{}\nGoogle Benchmark's flags:\n", own_help, e2e::options_help());
  benchmark::PrintDefaultHelp();
}

Flags parse_flags(int count, char** arguments) {
  Flags flags;
  CLI::App app("Servers made of all systems, measured from outside, over the loopback.", program);
  app.set_help_flag();  // --help is left to Google Benchmark, which calls print_help()
  app.allow_extras();
  app.add_flag("--quick", flags.quick, "few rounds, and --benchmark_min_time=0.1 unless given");
  const CLI::Option* const serve =
      app.add_option("--serve", flags.settings, "be the server that is measured")
          ->expected(0, CLI::detail::expected_max_vector_size)
          ->type_name("[KEY=VALUE ...]");
  app.parse(count, arguments);
  flags.serves = serve->count() > 0;
  std::erase(flags.settings, "");  // --serve without settings
  flags.remaining = app.remaining();
  own_help = app.help();
  return flags;
}

int serve(const std::vector<std::string>& settings) {
  const auto begin = std::chrono::steady_clock::now();
  const auto read = e2e::read_options(settings);
  if (!read) return fail(2, read.error().describe());
  const e2e::StackOptions& options = *read;
  katana::server::raise_descriptor_limit();
  auto stack = e2e::Stack::make(options);
  if (!stack) return fail(1, stack.error().describe());
  for (const e2e::Phase& phase : (*stack)->phases()) {
    fmt::print("{}", e2e::to_line(phase));
  }
  auto& server = (*stack)->server();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{}: listening on {} (engine {}, {} reactors) in {:.1f} ms\n", program, server.url(),
             options.engine, server.reactor_count(), took.count());
  std::fflush(stdout);
  server.run();
  return 0;
}

int measure(Flags& flags) {
  if (flags.quick) e2e::set_quick();
  std::string name = program;
  std::string short_time = "--benchmark_min_time=0.1";  // before the given flags, which replace it
  std::vector<char*> arguments{name.data()};
  if (flags.quick) arguments.push_back(short_time.data());
  for (std::string& each : flags.remaining) arguments.push_back(each.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data(), print_help);
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  benchmark::AddCustomContext("cpus_shared_by_server_and_client",
                              e2e::shared_cpus() ? "true" : "false");
  benchmark::AddCustomContext("suite", e2e::settings().quick ? "quick" : "full");
  std::atexit([] { e2e::remove_folders(); });
  e2e::pin_to_client_cpu();
  e2e::add_logged_server();
  e2e::add_database_api();
  e2e::add_worker_pool();
  e2e::add_full_stack();
  e2e::add_application();
  e2e::add_integration();
  e2e::add_contention();
  const std::size_t run = benchmark::RunSpecifiedBenchmarks();
  e2e::forget_server();
  benchmark::Shutdown();
  return run > 0 ? 0 : fail(1, "no benchmark has that name; --benchmark_list_tests names them");
}

}  // namespace

int main(int count, char** arguments) {
  try {
    Flags flags = parse_flags(count, arguments);
    return flags.serves ? serve(flags.settings) : measure(flags);
  } catch (const CLI::ParseError& error) {
    return fail(2, error.what());
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}

// SPDX-License-Identifier: Apache-2.0
