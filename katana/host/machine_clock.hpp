// machine_now(): the machine's monotonic clock, for what runs beside reactors, which have their own.
//
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include <chrono>

#include "katana/base/instant.hpp"

namespace katana::host {

inline Instant machine_now() noexcept {
  return {std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1)};
}

constexpr double milliseconds_of(Duration duration) noexcept {
  return static_cast<double>(duration.ns) / 1e6;
}

}  // namespace katana::host
