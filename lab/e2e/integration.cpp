// What does it cost that systems meet through interfaces, a registry and Result, and that a program
// is put together at its start?
#include <fmt/format.h>

#include <memory>

#include "katana/base/registry/registry.hpp"
#include "katana/base/system/result.hpp"
#include "lab/e2e/bench.hpp"
#include "lab/e2e/heap.hpp"
#include "lab/e2e/places.hpp"
#include "lab/micro/common/subjects.hpp"
#include "lab/micro/micro.hpp"

namespace e2e {
namespace {

using namespace katana;
using common_bench::AdaptedCounter, common_bench::Counter, common_bench::PlainCounter;
using common_bench::hidden, common_bench::VirtualCounter, common_bench::Wanted;

// ---- calls ------------------------------------------------------------------------------------

template <class T>
void call(benchmark::State& state, T* counter) {
  std::uint64_t sum = 0;
  for (auto unused : state) {
    (void)unused;
    benchmark::DoNotOptimize(sum = counter->add(1));
  }
  micro::expect(sum == static_cast<std::uint64_t>(state.iterations()), "calls");
}

void add_calls() {
  benchmark::RegisterBenchmark("Integration/call/direct", [](benchmark::State& state) {
    PlainCounter plain;
    call(state, hidden(&plain));
  });
  benchmark::RegisterBenchmark("Integration/call/virtual", [](benchmark::State& state) {
    VirtualCounter counter;
    call(state, hidden(static_cast<Counter*>(&counter)));
  });
  benchmark::RegisterBenchmark("Integration/call/adapter", [](benchmark::State& state) {
    PlainCounter plain;
    AdaptedCounter adapted(plain);
    call(state, hidden(static_cast<Counter*>(&adapted)));
  });
}

// ---- lookups ----------------------------------------------------------------------------------

const registry::Services& shared_services() {
  static const std::unique_ptr<registry::Services> services = common_bench::numbered_services();
  return *services;
}

void look_up_by_type(benchmark::State& state) {
  const registry::Services* const services = hidden(&shared_services());
  for (auto unused : state) {
    (void)unused;
    benchmark::DoNotOptimize(services->get<Wanted>().value);
    benchmark::ClobberMemory();
  }
}

void look_up_by_slot(benchmark::State& state) {
  const registry::Services* const services = hidden(&shared_services());
  const auto slot = *services->slot<Wanted>();
  for (auto unused : state) {
    (void)unused;
    benchmark::DoNotOptimize(services->get(slot).value);
    benchmark::ClobberMemory();
  }
}

// Every service once, after the caches were filled with something else; one iteration is all.
void look_up_cold(benchmark::State& state) {
  const registry::Services& services = shared_services();
  for (auto unused : state) {
    (void)unused;
    common_bench::evict_caches();
    const std::uint64_t begin = micro::ticks();
    common_bench::for_each_service([&]<class T>() { micro::use(services.get<T>()); });
    const auto ticks = static_cast<double>(micro::ticks() - begin);
    state.SetIterationTime(ticks * micro::ns_per_tick() / 1e9);
  }
  state.counters["each_s"] = benchmark::Counter(
      common_bench::service_count,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void add_lookups() {
  benchmark::RegisterBenchmark("Integration/lookup/cold", look_up_cold)
      ->UseManualTime()
      ->Iterations(settings().quick ? 5 : 50);
  for (const int threads : {1, 2, 8}) {
    benchmark::RegisterBenchmark("Integration/lookup/by_type", look_up_by_type)->Threads(threads);
    benchmark::RegisterBenchmark("Integration/lookup/by_slot", look_up_by_slot)->Threads(threads);
  }
}

// ---- errors -----------------------------------------------------------------------------------

enum class How : std::uint8_t { well, by_code, by_message };
constinit How how = How::well;

[[gnu::noinline]] Result<int> leaf() {
  benchmark::DoNotOptimize(how);
  if (how == How::by_code) [[unlikely]]
    return fail(Code::not_found);
  if (how == How::by_message) [[unlikely]]
    return fail(Code::permission_denied, "open 'users.db': permission denied; ask its owner");
  return 4711;
}

// `depth` contexts around the failure.
[[gnu::noinline]] Result<int> wider(int depth) {
  if (depth == 0) return leaf();
  Result<int> inner = wider(depth - 1);
  if (!inner) return std::unexpected(inner.error().within("read the table of users"));
  return inner;
}

void propagate(benchmark::State& state, How given, int depth) {
  how = given;
  const std::uint64_t before = heap_calls();
  for (auto unused : state) {
    (void)unused;
    const Result<int> result = wider(depth);
    micro::expect(result.has_value() == (given == How::well), "a result");
    benchmark::DoNotOptimize(result);
  }
  state.counters["allocations"] =
      static_cast<double>(heap_calls() - before) / static_cast<double>(state.iterations());
}

void add_errors() {
  struct Row {
    const char* name;
    How given;
    int depth;
  };
  constexpr Row rows[] = {{"ok", How::well, 0},
                          {"code", How::by_code, 0},
                          {"message", How::by_message, 0},
                          {"chain_of_2", How::by_message, 1},
                          {"chain_of_5", How::by_message, 4}};
  for (const Row& row : rows) {
    benchmark::RegisterBenchmark(
        fmt::format("Integration/error/{}", row.name).c_str(),
        [row](benchmark::State& state) { propagate(state, row.given, row.depth); });
  }
}

// ---- the start --------------------------------------------------------------------------------

// Makes and ends the parts in this process, without the system's work to start a program.
void start_up(benchmark::State& state, const StackOptions& options) {
  std::vector<Phase> phases;
  for (auto unused : state) {
    (void)unused;
    const std::int64_t begin_ns = micro::now_ns();
    auto stack = Stack::make(options);
    const std::int64_t took_ns = micro::now_ns() - begin_ns;
    if (!stack) {
      state.SkipWithError(stack.error().describe().c_str());
      return;
    }
    state.SetIterationTime(static_cast<double>(took_ns) / 1e9);
    phases = (*stack)->phases();
  }
  for (const Phase& phase : phases) state.counters[phase.name + "_ms"] = phase.ms;
}

void add_integrated_start_up() {
  for (int count = 1; count <= 7; ++count) {
    benchmark::RegisterBenchmark(
        fmt::format("Integration/bootstrap/{}_systems", count).c_str(),
        [options = with_systems(count)](benchmark::State& state) { start_up(state, options); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

void add_integration() {
  add_calls();
  add_lookups();
  add_errors();
  add_integrated_start_up();
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
