// Bench: the tools of all groups of e2e_benchmarks: registering, servers that are kept between
// runs, counters, and rounds that compare.
//
// Owns       the server started last, until another is wanted or the program ends.
// Thread     one, as Google Benchmark's main thread.
// Allocates  freely, outside of the timed code.
// Fails      a benchmark whose server does not start, or whose work was not done, is its own error
//            (SkipWithError); the others go on.
// Invariant  compared subjects run in rounds, A B C A B C, in servers that all live meanwhile. A
//            ratio is the median of those within a round.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lab/e2e/client.hpp"
#include "lab/e2e/stack.hpp"
#include "lab/process/server_process.hpp"

namespace e2e {

using katana::lab::ServerCommand, katana::lab::ServerProcess;

struct Settings {
  bool quick = false;
  // The number of rounds of a comparison.
  int rounds() const { return quick ? 3 : 15; }
  std::uint64_t requests(std::uint64_t full) const { return quick ? full / 8 + 1 : full; }
};
const Settings& settings() noexcept;
void set_quick() noexcept;

// A server for a benchmark: the one that ran last if it was the same.
ServerProcess* kept_server(benchmark::State& state, const ServerCommand& command);
void forget_server() noexcept;

// Requests over kept connections, one for each iteration; manual time. `asks_of(n)` says which n.
using AsksOf = std::function<std::vector<Ask>(const ServerProcess& server, std::uint64_t count)>;
void time_requests(benchmark::State& state, const ServerCommand& command, const AsksOf& asks_of,
                   std::uint32_t connections = 64);
AsksOf always(Ask ask);

// One subject of a comparison; returns its cost, in whatever unit is compared. Throws what went
// wrong as text (Failed).
struct Failed {
  std::string why;
};
struct Compared {
  std::string name;
  std::function<double()> cost;
};
// Each iteration is a round. The counters are the median of each subject, and for each but the
// first its ratio to the first: NAME_ratio, NAME_low, NAME_high. With 40 rounds, 95 % of them lie
// within low and high; with fewer, all do.
void compare(benchmark::State& state, const std::string& unit, std::vector<Compared> subjects);

// The settings of a benchmark that times something once a round.
inline benchmark::internal::Benchmark* in_rounds(benchmark::internal::Benchmark* each) {
  return each->Iterations(settings().rounds())->UseManualTime()->Unit(benchmark::kMillisecond);
}
inline benchmark::internal::Benchmark* by_request(benchmark::internal::Benchmark* each) {
  return each->UseManualTime()->Unit(benchmark::kMicrosecond);
}

// Microseconds per request of a server that lives as long as the returned function, in processor
// time of the server or by the clock. They throw Failed.
enum class Of : std::uint8_t { processor, clock };
struct Requests {
  std::uint64_t count;
  AsksOf asks_of;
  std::uint32_t connections = 64;
  Of of = Of::processor;
};
std::function<double()> cost_of(std::shared_ptr<ServerProcess> server, Requests what);
std::shared_ptr<ServerProcess> started(const ServerCommand& command);
// A comparison whose subjects are made when it runs. An exception of theirs is its error.
void compare_made(benchmark::State& state, const std::string& unit,
                  const std::function<std::vector<Compared>()>& make);

// Each group adds its benchmarks.
void add_logged_server();
void add_database_api();
void add_worker_pool();
void add_full_stack();
void add_application();
void add_integration();
void add_contention();

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
