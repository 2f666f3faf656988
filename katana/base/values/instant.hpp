// Instant and Duration: monotonic time in nanoseconds, as a value. Nothing below reads a clock: the
// engine reads it once per turn and everything else is told.
//
//   Duration pause = 250ms;                       // of std::chrono, where no digit is lost
//   if (pause * 3 + seconds(1) > 1min) …
//   std::chrono::nanoseconds same = pause;
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstdint>
#include <initializer_list>

namespace katana {

namespace detail {
// A std::chrono::duration of integers, by its members: <chrono> would be 5,000 lines in every
// source.
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

  constexpr Duration() = default;
  constexpr explicit Duration(std::int64_t count_ns) : ns(count_ns) {}
  // {n}: n nanoseconds. A number without braces is none.
  constexpr Duration(std::initializer_list<std::int64_t> count_ns) : ns(*count_ns.begin()) {}
  // Of whole nanoseconds or longer units. What 64 bits cannot hold is the longest there is.
  template <detail::WholeNanoseconds T>
  constexpr Duration(T duration)
      : ns(saturated(duration.count(), 1'000'000'000 / T::period::den * T::period::num)) {}
  // To std::chrono::nanoseconds.
  template <detail::WholeNanoseconds T>
    requires(T::period::num == 1 && T::period::den == 1'000'000'000)
  constexpr operator T() const {
    return T(ns);
  }

  friend constexpr bool operator==(Duration left, Duration right) { return left.ns == right.ns; }
  friend constexpr auto operator<=>(Duration left, Duration right) { return left.ns <=> right.ns; }
  friend constexpr Duration operator+(Duration left, Duration right) {
    return Duration(left.ns + right.ns);
  }
  friend constexpr Duration operator-(Duration left, Duration right) {
    return Duration(left.ns - right.ns);
  }
  friend constexpr Duration operator-(Duration duration) { return Duration(-duration.ns); }
  friend constexpr Duration operator*(Duration duration, std::int64_t factor) {
    return Duration(duration.ns * factor);
  }
  friend constexpr Duration operator*(std::int64_t factor, Duration duration) {
    return duration * factor;
  }
  // REQUIRES that the divisor is not 0; rounds towards 0.
  friend constexpr Duration operator/(Duration duration, std::int64_t divisor) {
    return Duration(duration.ns / divisor);
  }
  friend constexpr std::int64_t operator/(Duration duration, Duration divisor) {
    return duration.ns / divisor.ns;
  }
  constexpr Duration& operator+=(Duration other) { return *this = *this + other; }
  constexpr Duration& operator-=(Duration other) { return *this = *this - other; }
  constexpr Duration& operator*=(std::int64_t factor) { return *this = *this * factor; }
  constexpr Duration& operator/=(std::int64_t divisor) { return *this = *this / divisor; }

  constexpr std::int64_t count_ms() const { return ns / 1'000'000; }  // rounded towards zero

 private:
  template <class Count>
  static constexpr std::int64_t saturated(Count count, std::int64_t factor) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(count, factor, &product)) return product;
    return count < 0 ? INT64_MIN : INT64_MAX;
  }
};

// The Duration of so many units.
constexpr Duration nanoseconds(std::int64_t count) { return Duration(count); }
constexpr Duration microseconds(std::int64_t count) { return Duration(count * 1'000); }
constexpr Duration milliseconds(std::int64_t count) { return Duration(count * 1'000'000); }
constexpr Duration seconds(std::int64_t count) { return Duration(count * 1'000'000'000); }

struct Instant {
  std::int64_t ns = 0;  // since an arbitrary point, such as the start of the machine
  auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration duration) const { return {ns + duration.ns}; }
  constexpr Instant operator-(Duration duration) const { return {ns - duration.ns}; }
  constexpr Duration operator-(Instant earlier) const { return Duration(ns - earlier.ns); }
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
