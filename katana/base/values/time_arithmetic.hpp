// Arithmetic of times in addition to instant.hpp: Timestamp and Instant with a Duration and with
// std::chrono, and a Duration with std::chrono on either side.
//
//   const Timestamp expires_at = current_time() + lifetime;   // a Duration
//   if (current_time() - created_at > lifetime) …
//
// Thread     any.
// Allocates  never.
// Fails      to compile where digits would be lost: with a factor, count or duration of double.
// Invariant  a Timestamp moves by the whole microseconds of a Duration. Beyond 64 bits it becomes
//            the first or the last Timestamp.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana {

// ---- Duration ----

constexpr Duration operator%(Duration left, Duration right) { return {left.ns % right.ns}; }
template <detail::WholeNanoseconds T>
constexpr Duration operator%(Duration left, T right) {
  return left % duration_of(right);
}
template <detail::WholeNanoseconds T>
constexpr Duration operator+(T left, Duration right) {
  return duration_of(left) + right;
}
template <detail::WholeNanoseconds T>
constexpr Duration operator-(T left, Duration right) {
  return duration_of(left) - right;
}
template <detail::WholeNanoseconds T>
constexpr std::int64_t operator/(Duration left, T right) {
  return left / duration_of(right);
}
template <detail::WholeNanoseconds T>
constexpr std::int64_t operator/(T left, Duration right) {
  return duration_of(left) / right;
}
template <detail::WholeNanoseconds T>
constexpr Duration& operator+=(Duration& left, T right) {
  return left = left + right;
}
template <detail::WholeNanoseconds T>
constexpr Duration& operator-=(Duration& left, T right) {
  return left = left - right;
}

// Deleted: 1.5 would become 1, and seconds(0.5) would become 0. Write milliseconds(500).
template <std::floating_point T>
Duration operator*(Duration duration, T factor) = delete;
template <std::floating_point T>
Duration operator*(T factor, Duration duration) = delete;
template <std::floating_point T>
Duration operator/(Duration duration, T divisor) = delete;
template <std::floating_point T>
Duration nanoseconds(T count) = delete;
template <std::floating_point T>
Duration microseconds(T count) = delete;
template <std::floating_point T>
Duration milliseconds(T count) = delete;
template <std::floating_point T>
Duration seconds(T count) = delete;

// ---- Instant ----

constexpr Instant operator+(Duration duration, Instant instant) { return instant + duration; }
constexpr Instant& operator+=(Instant& instant, Duration duration) {
  return instant = instant + duration;
}
constexpr Instant& operator-=(Instant& instant, Duration duration) {
  return instant = instant - duration;
}
template <detail::WholeNanoseconds T>
constexpr Instant operator+(Instant instant, T duration) {
  return instant + duration_of(duration);
}
template <detail::WholeNanoseconds T>
constexpr Instant operator-(Instant instant, T duration) {
  return instant - duration_of(duration);
}

// ---- Timestamp: a time of whole seconds or milliseconds becomes one ----

constexpr Timestamp operator+(Timestamp time, Duration duration) noexcept {
  std::int64_t count = 0;
  const std::int64_t before = time.time_since_epoch().count();
  if (__builtin_add_overflow(before, duration.ns / 1'000, &count)) {
    count = before < 0 ? INT64_MIN : INT64_MAX;
  }
  return Timestamp(std::chrono::microseconds(count));
}
constexpr Timestamp operator+(Duration duration, Timestamp time) noexcept {
  return time + duration;
}
constexpr Timestamp operator-(Timestamp time, Duration duration) noexcept {
  std::int64_t count = 0;
  const std::int64_t before = time.time_since_epoch().count();
  if (__builtin_sub_overflow(before, duration.ns / 1'000, &count)) {
    count = before < 0 ? INT64_MIN : INT64_MAX;
  }
  return Timestamp(std::chrono::microseconds(count));
}
constexpr Timestamp& operator+=(Timestamp& time, Duration duration) noexcept {
  return time = time + duration;
}
constexpr Timestamp& operator-=(Timestamp& time, Duration duration) noexcept {
  return time = time - duration;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
