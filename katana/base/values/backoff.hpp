// backoff(): the wait before a retry.
//
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include <algorithm>
#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana {

// The wait after `failures` failures in a row, at least 1. `random` spreads the retries of many
// programs over the second half of the time.
inline Duration backoff(unsigned failures, Duration least, Duration most,
                        std::uint64_t random) noexcept {
  std::int64_t ns = least.ns;
  for (unsigned count = 1; count < failures && ns < most.ns; ++count) ns *= 2;
  ns = std::max<std::int64_t>(std::min(ns, most.ns), 2);
  return nanoseconds(ns / 2 +
                     static_cast<std::int64_t>(random % static_cast<std::uint64_t>(ns / 2)));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
