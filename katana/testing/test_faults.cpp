#include "katana/testing/test_faults.hpp"

#include <algorithm>

namespace katana::testing {
namespace {

std::uint32_t per_1024(double chance) noexcept {
  return static_cast<std::uint32_t>(std::clamp(chance, 0.0, 1.0) * 1024);
}

std::uint32_t microseconds_of(Duration time) noexcept {
  constexpr std::int64_t hour_us = 3'600'000'000;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.ns / 1'000, 1, hour_us));
}

}  // namespace

Faults& Faults::fragments(std::uint32_t bytes_max) noexcept {
  faults_.segment_bytes = {1, std::max<std::uint32_t>(bytes_max, 1)};
  faults_.fragment = 512;
  return *this;
}

Faults& Faults::short_writes() noexcept {
  faults_.short_send = 512;
  faults_.completion_send = 128;
  faults_.readiness_send = 512;
  return *this;
}

Faults& Faults::slow_network(Duration delay) noexcept {
  const std::uint32_t us = microseconds_of(delay);
  faults_.to_server_us = {us, us + us / 2};
  faults_.to_peer_us = {us, us + us / 2};
  return *this;
}

// At most one window is unacknowledged, and an acknowledgement takes one round trip.
Faults& Faults::slow_network(std::uint64_t bytes_per_s, Duration delay) noexcept {
  const std::uint64_t us = microseconds_of(delay);
  const std::uint64_t window = std::clamp<std::uint64_t>(
      std::min<std::uint64_t>(bytes_per_s, UINT32_MAX) * 2 * us / 1'000'000, 1, UINT32_MAX);
  faults_.to_server_us = {static_cast<std::uint32_t>(us), static_cast<std::uint32_t>(us)};
  faults_.to_peer_us = faults_.to_server_us;
  faults_.peer_window_bytes = {static_cast<std::uint32_t>(window),
                               static_cast<std::uint32_t>(window)};
  faults_.server_window_bytes = faults_.peer_window_bytes;
  return *this;
}

Faults& Faults::resets(double chance, Duration within) noexcept {
  faults_.link_reset = per_1024(chance);
  faults_.reset_after_us = {0, microseconds_of(within)};
  return *this;
}

Faults& Faults::cut(Duration after) noexcept {
  faults_.link_reset = 1024;
  faults_.reset_after_us = {microseconds_of(after), microseconds_of(after)};
  return *this;
}

Faults& Faults::accept_failures(double chance) noexcept {
  faults_.accept_failure = per_1024(chance);
  return *this;
}

Faults Faults::any(std::uint64_t seed) noexcept {
  Faults faults;
  faults.faults_ = engine::SimFaults::random(seed).lossless();
  return faults;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
