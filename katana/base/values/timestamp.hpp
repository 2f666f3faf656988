// Time as values of a program: points of the system clock, dates and durations, and their texts.
//
//   Timestamp          a point of time in microseconds, as PostgreSQL keeps it
//   TextForm<sys_time<D>>   2026-11-23T21:12:28.123456Z (RFC 3339), with as many digits behind the
//                      point as D needs (seconds 0, milliseconds 3, microseconds 6, nanoseconds
//                      9), so that texts in one column sort as the times do
//   TextForm<Date>     2026-11-23, std::chrono::year_month_day of a day that exists
//   TextForm<duration> 1500ms, 30s, 2h: a number and one of ns us ms s m h d (duration_text.hpp)
//
// Thread     any.
// Allocates  never.
// Fails      parse() returns nothing for malformed text, a day that does not exist, or a time
//            beyond the range of the type. A duration that must be rounded is malformed; surplus
//            digits of a time are dropped. A leap second becomes the next second, as in POSIX.
// Invariant  write() gives the years 0000 to 9999, the range of RFC 3339. A time beyond becomes the
//            nearest one in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana {

// A point of time in UTC, in microseconds since 1970.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;
using Date = std::chrono::year_month_day;  // a day of the Gregorian calendar, without a time zone

// Replaces current_time() in this thread while it lives, for tests with virtual time. Nested clocks
// are allowed: the innermost counts until it is destroyed.
class VirtualWallClock {
 public:
  // Called by katana::current_time() in this thread.
  virtual Timestamp current_time() const noexcept = 0;
  VirtualWallClock(const VirtualWallClock&) = delete;
  VirtualWallClock& operator=(const VirtualWallClock&) = delete;
  // The clock of this thread; null: the system's clock.
  static const VirtualWallClock* present() noexcept { return present_; }

 protected:
  VirtualWallClock() noexcept = default;
  ~VirtualWallClock() = default;
  // Sets the clock of this thread. Returns the previous one, to be set again at the end.
  static const VirtualWallClock* enter(const VirtualWallClock* clock) noexcept {
    return std::exchange(present_, clock);
  }

 private:
  inline static constinit thread_local const VirtualWallClock* present_ = nullptr;
};

// The time of the system's clock, or the virtual time of a test.
inline Timestamp current_time() noexcept {
  if (const VirtualWallClock* const clock = VirtualWallClock::present()) [[unlikely]] {
    return clock->current_time();
  }
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

namespace detail {

// A time for RFC 3339: seconds since 1970 in UTC, and nanoseconds of the present second.
struct TimeParts {
  std::int64_t seconds = 0;
  std::uint32_t ns = 0;
};
std::optional<TimeParts> parse_time(Bytes text) noexcept;
ShortText<30> write_time(TimeParts time, unsigned fraction_digits) noexcept;

template <class D>
inline constexpr unsigned fraction_digits = [] {
  using Period = typename D::period;
  return std::ratio_greater_equal_v<Period, std::ratio<1>> ? 0u
         : std::ratio_greater_equal_v<Period, std::milli>  ? 3u
         : std::ratio_greater_equal_v<Period, std::micro>  ? 6u
                                                           : 9u;
}();

}  // namespace detail

template <class D>
struct TextForm<std::chrono::sys_time<D>> {
  static_assert(std::ratio_less_equal_v<typename D::period, std::ratio<1>> &&
                    std::ratio_greater_equal_v<typename D::period, std::nano>,
                "a time point in seconds, milliseconds, microseconds or nanoseconds; for days take "
                "katana::Date");
  using Time = std::chrono::sys_time<D>;
  static constexpr Bytes expected = "a date and time such as 2026-11-23T21:12:28Z (RFC 3339)";
  static constexpr Bytes schema_format = "date-time";

  static std::optional<Time> parse(Bytes text) noexcept {
    const auto parts = detail::parse_time(text);
    if (!parts) return std::nullopt;
    constexpr std::int64_t per_second = std::ratio_divide<std::ratio<1>, typename D::period>::num;
    constexpr std::int64_t ns_each = 1'000'000'000 / per_second;
    std::int64_t count = 0;
    if (__builtin_mul_overflow(parts->seconds, per_second, &count) ||
        __builtin_add_overflow(count, parts->ns / ns_each, &count) ||
        !std::in_range<typename D::rep>(count)) {
      return std::nullopt;
    }
    return Time(D(static_cast<typename D::rep>(count)));
  }
  static ShortText<30> write(const Time& time) noexcept {
    // No std::chrono::floor: it multiplies the second back, and overflows near the smallest time.
    constexpr std::int64_t per_second = std::ratio_divide<std::ratio<1>, typename D::period>::num;
    const std::int64_t count = time.time_since_epoch().count();
    const std::int64_t rest = count % per_second + (count % per_second < 0 ? per_second : 0);
    const std::int64_t second = count / per_second - (count % per_second < 0 ? 1 : 0);
    const auto ns = static_cast<std::uint32_t>(rest * (1'000'000'000 / per_second));
    return detail::write_time({second, ns}, detail::fraction_digits<D>);
  }
};

template <>
struct TextForm<Date> {
  static constexpr Bytes expected = "a date such as 2026-11-23 (RFC 3339)";
  static constexpr Bytes schema_format = "date";
  static std::optional<Date> parse(Bytes text) noexcept;
  static ShortText<10> write(const Date& date) noexcept;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
