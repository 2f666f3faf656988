// RegistryOptions and HealthOptions: limits of metrics and of health checks. These are plain
// values, for headers that have options and need neither.
//
// Owns       values.
// Thread     values.
// Allocates  the target of `clock`.
// Fails      never.
#pragma once

#include <cstddef>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::metrics {

struct RegistryOptions {
  // The most series of a family without its own limit. Further ones count in the overflow series.
  std::size_t series_per_family_max = 2000;
};

struct HealthOptions {
  std::function<Instant()> clock = {};  // monotonic; none: the system's
  Duration stop_timeout = seconds(2);   // how long the destructor waits for running checks
  // False: no check gets a thread; one that may block blocks the caller. For tests in virtual time,
  // in which no wait ends for a thread.
  bool threads = true;
};

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
