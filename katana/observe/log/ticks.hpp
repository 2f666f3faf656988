// Ticks: the cheapest clock on which two threads agree, and the meaning of its ticks.
//
// The time-stamp counter where it runs at one rate on all CPUs, the monotonic clock elsewhere.
// TickScale turns ticks into nanoseconds since 1970. It is set again from both clocks about once a
// second, and so follows steps of the wall clock.
//
// Thread     now() any; a TickScale only its owner's.
// Allocates  never.
// Fails      never.
#pragma once

#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana::log::ticks {

#if defined(__x86_64__)
extern const bool use_counter;
std::uint64_t now_by_clock() noexcept;
// The built-in function, because its header (x86intrin.h) takes a second to compile.
inline std::uint64_t now() noexcept {
  return use_counter ? __builtin_ia32_rdtsc() : now_by_clock();
}
#else
std::uint64_t now() noexcept;  // any thread; a few nanoseconds
#endif

// The monotonic clock, exact to a few milliseconds, without a system call.
Instant coarse_now() noexcept;

// Turns ticks into time. Its owner calls follow() about once a second.
class TickScale {
 public:
  // Measures the rate over at least a millisecond since the program was loaded, once in a process.
  TickScale() noexcept;
  // For tests: one tick is a nanosecond, and tick 0 is the second 0 of 1970.
  static TickScale of_nanoseconds() noexcept { return TickScale(0, 0, 1.0); }

  // The time in nanoseconds since 1970, UTC.
  std::int64_t wall_ns(std::uint64_t ticks) const noexcept {
    const auto since = static_cast<std::int64_t>(ticks - base_ticks_);  // may be before the base
    return base_ns_ + static_cast<std::int64_t>(static_cast<double>(since) * ns_per_tick_);
  }
  // The number of ticks in a duration.
  std::uint64_t ticks_in(std::int64_t ns) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ns) / ns_per_tick_);
  }
  // Reads both clocks again if a second has passed.
  void follow() noexcept;

 private:
  TickScale(std::uint64_t ticks, std::int64_t ns, double rate) noexcept
      : base_ticks_(ticks), base_ns_(ns), ns_per_tick_(rate), fixed_(true) {}

  std::uint64_t base_ticks_ = 0;
  std::int64_t base_ns_ = 0;
  double ns_per_tick_ = 1.0;
  std::uint64_t first_ticks_ = 0;  // start of the longest span over which the rate is measured
  std::int64_t first_steady_ns_ = 0;
  bool fixed_ = false;
};

}  // namespace katana::log::ticks

// SPDX-License-Identifier: Apache-2.0
