// monotonic_now(): the monotonic clock, for code that runs outside reactors. A reactor has a clock.
//
// Thread     any; safe in a signal handler.
// Allocates  never.
// Fails      never.
// Invariant  code that a reactor calls takes the time as an argument. A read of this clock there
//            would cost a call each time, and would ignore simulated time.
#pragma once

#include <ctime>

#include "katana/base/values/instant.hpp"

namespace katana {

// The time of a clock of clock_gettime(2), such as the processor time of a thread or a process.
inline Duration clock_time(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return {std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

inline Instant monotonic_now() noexcept { return {clock_time(CLOCK_MONOTONIC).ns}; }

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
