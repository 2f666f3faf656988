// Instant and Duration: monotonic time in nanoseconds, as a value. No function here reads a clock:
// the engine reads it once per turn and passes the time on.
//
//   Duration pause = duration_of(250ms);          // from std::chrono, where no digit is lost
//   if (pause * 3 + seconds(1) > 1min) …
//   std::chrono::nanoseconds same = pause;
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

namespace katana {

namespace detail {
// A std::chrono::duration of integers, recognised by its members. An include of <chrono> would add
// 5,000 lines to every source.
template <class T>
concept ChronoDuration = std::integral<typename T::rep> && requires(T duration) {
  duration.count();
  T::period::num;
  T::period::den;
};
template <class T>
concept WholeNanoseconds = ChronoDuration<T> && 1'000'000'000 % T::period::den == 0;
}  // namespace detail

struct Duration {
  std::int64_t ns = 0;  // may be negative

  // Converts to std::chrono::nanoseconds; duration_of() is the opposite conversion.
  template <detail::WholeNanoseconds T>
    requires(T::period::num == 1 && T::period::den == 1'000'000'000)
  constexpr operator T() const {
    return T(ns);
  }

  auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return {ns + other.ns}; }
  constexpr Duration operator-(Duration other) const { return {ns - other.ns}; }
  constexpr Duration operator-() const { return {-ns}; }
  constexpr Duration operator*(std::int64_t factor) const { return {ns * factor}; }
  // Rounds towards 0. REQUIRES that the divisor is not 0.
  constexpr Duration operator/(std::int64_t divisor) const { return {ns / divisor}; }
  constexpr std::int64_t operator/(Duration divisor) const { return ns / divisor.ns; }
  constexpr Duration& operator+=(Duration other) { return *this = *this + other; }
  constexpr Duration& operator-=(Duration other) { return *this = *this - other; }
  constexpr Duration& operator*=(std::int64_t factor) { return *this = *this * factor; }
  constexpr Duration& operator/=(std::int64_t divisor) { return *this = *this / divisor; }

  constexpr std::int64_t count_ms() const { return ns / 1'000'000; }  // rounded towards zero
};

constexpr Duration operator*(std::int64_t factor, Duration duration) { return duration * factor; }

// Converts a std::chrono::duration of whole nanoseconds or longer units; others do not compile. A
// value beyond 64 bits becomes the longest Duration.
template <detail::WholeNanoseconds T>
constexpr Duration duration_of(T duration) {
  constexpr std::int64_t factor = 1'000'000'000 / T::period::den * T::period::num;
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(duration.count(), factor, &product)) return {product};
  return {duration.count() < 0 ? INT64_MIN : INT64_MAX};
}
template <detail::WholeNanoseconds T>
constexpr Duration operator+(Duration left, T right) {
  return left + duration_of(right);
}
template <detail::WholeNanoseconds T>
constexpr Duration operator-(Duration left, T right) {
  return left - duration_of(right);
}
template <detail::WholeNanoseconds T>
constexpr bool operator==(Duration left, T right) {
  return left == duration_of(right);
}
template <detail::WholeNanoseconds T>
constexpr auto operator<=>(Duration left, T right) {
  return left <=> duration_of(right);
}

// The Duration of `count` units.
constexpr Duration nanoseconds(std::int64_t count) { return {count}; }
constexpr Duration microseconds(std::int64_t count) { return {count * 1'000}; }
constexpr Duration milliseconds(std::int64_t count) { return {count * 1'000'000}; }
constexpr Duration seconds(std::int64_t count) { return {count * 1'000'000'000}; }

struct Instant {
  std::int64_t ns = 0;  // since an arbitrary point, such as the start of the machine
  auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration duration) const { return {ns + duration.ns}; }
  constexpr Instant operator-(Duration duration) const { return {ns - duration.ns}; }
  constexpr Duration operator-(Instant earlier) const { return {ns - earlier.ns}; }
};

// The number of milliseconds with a fraction, for messages and metrics.
constexpr double milliseconds_of(Duration duration) noexcept {
  return static_cast<double>(duration.ns) / 1e6;
}

// Later than every instant that a clock returns.
inline constexpr Instant never{INT64_MAX};

// Extends the deadline of a client that transferred `bytes` by their time at `bytes_per_s`, up to
// `latest`. A client that sends a single byte now and then cannot hold a connection for ever.
// `never` is no deadline yet and becomes `latest`. REQUIRES bytes_per_s > 0.
constexpr Instant extend_deadline(Instant deadline, std::uint64_t bytes, std::int64_t bytes_per_s,
                                  Instant latest) noexcept {
  if (deadline == never) return latest;
  // The limit keeps the time within 64 bits.
  const auto counted = static_cast<std::int64_t>(bytes < UINT32_MAX ? bytes : UINT32_MAX);
  const Instant extended = deadline + nanoseconds(counted * (1'000'000'000 / bytes_per_s));
  return extended < latest ? extended : latest;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
