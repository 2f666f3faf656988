// Instant and Duration: monotonic time in nanoseconds, as a value. Nothing below reads a clock: the
// engine reads it once per turn and everything else is told.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace katana {

struct Duration {
  std::int64_t ns = 0;  // may be negative
  auto operator<=>(const Duration&) const = default;
  constexpr Duration operator*(std::int64_t factor) const { return {ns * factor}; }
  constexpr std::int64_t count_ms() const { return ns / 1'000'000; }  // rounded towards zero
};

// The Duration of so many units.
constexpr Duration nanoseconds(std::int64_t count) { return {count}; }
constexpr Duration microseconds(std::int64_t count) { return {count * 1'000}; }
constexpr Duration milliseconds(std::int64_t count) { return {count * 1'000'000}; }
constexpr Duration seconds(std::int64_t count) { return {count * 1'000'000'000}; }

struct Instant {
  std::int64_t ns = 0;  // since an arbitrary point, such as the start of the machine
  auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration duration) const { return {ns + duration.ns}; }
  constexpr Duration operator-(Instant earlier) const { return {ns - earlier.ns}; }
};

// With a fraction, for messages and metrics.
constexpr double milliseconds_of(Duration duration) noexcept {
  return static_cast<double>(duration.ns) / 1e6;
}

// Later than every instant that a clock returns.
inline constexpr Instant never{INT64_MAX};

// The deadline of a client that moved `bytes`: they buy it the time that they take at
// `bytes_per_s`, up to `latest`, so that one byte now and then does not hold a connection for ever.
// `never` is no deadline yet and becomes `latest`. REQUIRES bytes_per_s > 0.
constexpr Instant extend_deadline(Instant deadline, std::uint64_t bytes, std::int64_t bytes_per_s,
                                  Instant latest) noexcept {
  if (deadline == never) return latest;
  // No more than 64 bits hold the time of.
  const auto counted = static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  return std::min(deadline + nanoseconds(counted * (1'000'000'000 / bytes_per_s)), latest);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
