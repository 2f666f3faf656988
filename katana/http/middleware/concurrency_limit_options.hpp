// ConcurrencyLimitOptions: the numbers of running and waiting requests (concurrency_limit.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana {

// Limits of all reactors together.
struct ConcurrencyLimitOptions {
  std::uint32_t running_max = 64;             // 1 or more
  std::uint32_t waiting_max = 1024;           // 0: no request waits
  Duration wait_max = seconds(1);             // in the queue; then 503
  Duration busy_after = milliseconds(100);    // queue not empty so long: busy_wait_max holds
  Duration busy_wait_max = milliseconds(20);  // instead of wait_max
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
