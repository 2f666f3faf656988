// monotonic_now(): the monotonic clock, for what runs beside reactors, which have theirs.
//
// Thread     any; safe in a signal handler.
// Allocates  never.
// Fails      never.
// Invariant  code that a reactor calls takes the time as an argument; reading it there would cost a
//            call each, and simulated time would not hold.
#pragma once

#include <ctime>

#include "katana/base/values/instant.hpp"

namespace katana {

// `clock` as clock_gettime(2) names it: also the processor time of a thread or of a process.
inline Duration clock_time(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return {std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

inline Instant monotonic_now() noexcept { return {clock_time(CLOCK_MONOTONIC).ns}; }

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
