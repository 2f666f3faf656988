// Clocks: the two times that an engine reads once a turn.
//
// Thread     any.
// Allocates  never.
// Fails      never: both clocks exist on every Linux.
#pragma once

#include <cstdint>
#include <ctime>

#include "katana/base/values/instant.hpp"

namespace katana::engine {

struct Clocks {
  Instant now;                    // of CLOCK_MONOTONIC
  std::int64_t wall_clock_s = 0;  // since 1970, a tick of the kernel behind at most
};

// Reads the monotonic clock, by a system call through the vDSO.
inline Instant read_monotonic() noexcept {
  timespec monotonic;
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  return {monotonic.tv_sec * 1'000'000'000 + monotonic.tv_nsec};
}

// One reading of each clock.
inline Clocks read_clocks() noexcept {
  const Instant now = read_monotonic();
  timespec wall;
  clock_gettime(CLOCK_REALTIME_COARSE, &wall);  // the cheap clock: a second suffices
  return {now, wall.tv_sec};
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
