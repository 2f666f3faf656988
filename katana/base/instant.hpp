// Instant and Duration: monotonic time in nanoseconds, as a value. Nothing below reads a clock: the
// engine reads it once per turn and everything else is told.
#pragma once

#include <compare>
#include <cstdint>

namespace katana {

struct Duration {
  std::int64_t ns = 0;
  auto operator<=>(const Duration&) const = default;
  constexpr Duration operator*(std::int64_t factor) const { return {ns * factor}; }
  constexpr std::int64_t count_ms() const { return ns / 1'000'000; }
};

constexpr Duration nanoseconds(std::int64_t count) { return {count}; }
constexpr Duration microseconds(std::int64_t count) { return {count * 1'000}; }
constexpr Duration milliseconds(std::int64_t count) { return {count * 1'000'000}; }
constexpr Duration seconds(std::int64_t count) { return {count * 1'000'000'000}; }

struct Instant {
  std::int64_t ns = 0;
  auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration duration) const { return {ns + duration.ns}; }
  constexpr Duration operator-(Instant earlier) const { return {ns - earlier.ns}; }
};

constexpr double milliseconds_of(Duration duration) noexcept {
  return static_cast<double>(duration.ns) / 1e6;
}

// Later than every instant that a clock returns.
inline constexpr Instant never{INT64_MAX};

}  // namespace katana
