#include "katana/observe/log/ticks.hpp"

#include <time.h>

#include <chrono>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace katana::log::ticks {

namespace {

std::int64_t steady_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

std::int64_t wall_clock_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct Reading {
  std::uint64_t ticks;
  std::int64_t ns;
};

// Returns the reading whose two clocks were read closest together, of a few. A thread that loses
// its CPU between them would shift every time stamp of the next second.
template <class Clock>
Reading read_together(Clock clock) noexcept {
  Reading best{};
  std::uint64_t narrowest = UINT64_MAX;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::uint64_t before = now();
    const std::int64_t ns = clock();
    const std::uint64_t width = now() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best = {before + width / 2, ns};
  }
  return best;
}

#if defined(__x86_64__)
// AMD64 manual volume 3, E.4.6; Intel volume 2A, CPUID: "invariant TSC".
bool counter_is_invariant() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}
#endif

}  // namespace

#if defined(__x86_64__)
const bool use_counter = counter_is_invariant();
std::uint64_t now_by_clock() noexcept { return static_cast<std::uint64_t>(steady_ns()); }
#else
std::uint64_t now() noexcept { return static_cast<std::uint64_t>(steady_ns()); }
#endif

namespace {

struct Origin {
  Reading first;
  double ns_per_tick;
};

// The time of the program's start: a Log that starts later has nothing to wait for.
const Reading loaded = read_together(steady_ns);

Origin measure() noexcept {
  constexpr std::int64_t span_ns = 1'000'000;
  // A log that is started by the initialisation of another file may come before this one's.
  const Reading first = loaded.ns != 0 ? loaded : read_together(steady_ns);
  Reading last = read_together(steady_ns);
  while (last.ns - first.ns < span_ns) last = read_together(steady_ns);
  return {first,
          static_cast<double>(last.ns - first.ns) / static_cast<double>(last.ticks - first.ticks)};
}

}  // namespace

Instant coarse_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);  // by the vDSO
  return {std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

TickScale::TickScale() noexcept {
  static const Origin origin = measure();
  first_ticks_ = origin.first.ticks;
  first_steady_ns_ = origin.first.ns;
  ns_per_tick_ = origin.ns_per_tick;
  const Reading wall = read_together(wall_clock_ns);
  base_ticks_ = wall.ticks;
  base_ns_ = wall.ns;
}

void TickScale::follow() noexcept {
  constexpr double second_ns = 1e9;
  if (fixed_ || static_cast<double>(now() - base_ticks_) * ns_per_tick_ < second_ns) return;
  const Reading steady = read_together(steady_ns);
  ns_per_tick_ = static_cast<double>(steady.ns - first_steady_ns_) /
                 static_cast<double>(steady.ticks - first_ticks_);
  const Reading wall = read_together(wall_clock_ns);
  base_ticks_ = wall.ticks;
  base_ns_ = wall.ns;
}

}  // namespace katana::log::ticks

// SPDX-License-Identifier: Apache-2.0
