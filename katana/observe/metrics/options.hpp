// RegistryOptions and HealthOptions: limits of metrics and of health checks. The values alone, for
// headers that have options and need neither.
//
// Owns       values.
// Thread     values.
// Allocates  what `clock` holds.
// Fails      never.
#pragma once

#include <cstddef>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::metrics {

struct RegistryOptions {
  // Series of a family that says nothing else. Beyond it comes the overflow series.
  std::size_t series_per_family_max = 2000;
};

struct HealthOptions {
  std::function<Instant()> clock = {};  // monotonic; none: the system's
  Duration stop_timeout = seconds(2);   // how long the destructor waits for running checks
  // False: no check gets a thread; one that may block blocks the caller. For tests, where time is
  // virtual and waits for no thread.
  bool threads = true;
};

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
