// e2e_benchmarks: servers made of all systems, measured from outside, over the loopback.
//
//   e2e_benchmarks [--quick] [any flag of Google Benchmark]
//   e2e_benchmarks --serve [KEY=VALUE …]       the server that is measured
//
// docs/guides/benchmarks.md says what each benchmark asks and how to read it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "katana/host/http_server.hpp"
#include "lab/e2e/bench.hpp"
#include "lab/e2e/places.hpp"
#include "lab/e2e/stack.hpp"

namespace {

int fail(int status, std::string_view message) {
  fmt::print(stderr, "e2e_benchmarks: {}\n", message);
  return status;
}

int serve(int count, char** arguments) {
  const auto begin = std::chrono::steady_clock::now();
  e2e::StackOptions options;
  for (int index = 2; index < count; ++index) {
    if (auto set = e2e::set_option(options, arguments[index]); !set) {
      return fail(2, set.error().describe());
    }
  }
  katana::host::raise_descriptor_limit();
  auto stack = e2e::Stack::make(options);
  if (!stack) return fail(1, stack.error().describe());
  for (const e2e::Phase& phase : (*stack)->phases()) {
    fmt::print("{}", e2e::to_line(phase));
  }
  auto& server = (*stack)->server();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  fmt::print("e2e_benchmarks: ready on {} (engine {}, {} reactors) in {:.1f} ms\n", server.url(),
             options.engine, server.reactor_count(), took.count());
  std::fflush(stdout);
  server.run();
  return 0;
}

// Removes --quick, and makes Google Benchmark's runs short unless told otherwise.
std::vector<char*> take_own_flags(int count, char** arguments) {
  static char short_time[] = "--benchmark_min_time=0.1";
  std::vector<char*> left{arguments[0]};
  bool has_time = false;
  for (int index = 1; index < count; ++index) {
    const std::string_view argument = arguments[index];
    if (argument == "--quick") {
      e2e::set_quick();
      continue;
    }
    has_time = has_time || argument.starts_with("--benchmark_min_time");
    left.push_back(arguments[index]);
  }
  if (e2e::settings().quick && !has_time) left.push_back(short_time);
  return left;
}

int measure(int count, char** arguments) {
  std::vector<char*> left = take_own_flags(count, arguments);
  int left_count = static_cast<int>(left.size());
  left.push_back(nullptr);
  benchmark::Initialize(&left_count, left.data());
  if (benchmark::ReportUnrecognizedArguments(left_count, left.data())) return 2;
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
    if (count > 1 && std::string_view(arguments[1]) == "--serve") return serve(count, arguments);
    return measure(count, arguments);
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
