// WallTime: the system's clock to the microsecond. It is computed from a reactor's monotonic time,
// and from the whole seconds of the system's clock at its turns.
//
// Owns       the difference of the two.
// Thread     one.
// Allocates  never.
// Fails      never.
// Invariant  it is behind the system's clock by less than a second, and by less the more often it
//            is asked. It is never ahead by more than step_max: a larger lead means that the clock
//            was set back.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::jobs {

class WallTime {
 public:
  // A larger difference is a clock that was set back.
  static constexpr std::int64_t step_max_us = 2'000'000;

  // The time of the system's clock at the monotonic time `now`; `wall_clock_s` is the reactor's.
  Timestamp at(Instant now, std::int64_t wall_clock_s) noexcept {
    const std::int64_t now_us = now.ns / 1000;
    const std::int64_t known = wall_clock_s * 1'000'000 - now_us;  // at least so much
    if (known > offset_us_ || offset_us_ - known > step_max_us) offset_us_ = known;
    return Timestamp(std::chrono::microseconds(now_us + offset_us_));
  }

 private:
  std::int64_t offset_us_ = std::numeric_limits<std::int64_t>::min() / 2;
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
