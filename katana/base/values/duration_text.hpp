// TextForm<std::chrono::duration>: durations in whole ns, us, ms, s, m, h or d as text: 1500ms, 2h.
//
// The text is a number and its unit (ns, us, ms, s, m, h, d), as in configuration. The number may
// have a fraction if the duration is a whole number of the type's unit. 1.5s is 1500 milliseconds,
// but no std::chrono::seconds. A minus sign may stand in front. Only 0 needs no unit. Durations are
// written in the largest unit that gives a whole number.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      parse() returns nothing.
// Invariant  parse() reads the output of write() as the same duration.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>

#include "katana/base/values/quantity.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana {
namespace detail {

struct SignedCount {
  bool is_negative = false;
  std::uint64_t magnitude = 0;
};
// Read and write a duration as a count of steps of `step_ns` nanoseconds.
std::optional<SignedCount> parse_duration(Bytes text, std::uint64_t step_ns) noexcept;
ShortText<24> write_duration(SignedCount count, std::uint64_t step_ns) noexcept;

template <std::integral Rep>
std::optional<Rep> parse_duration_as(Bytes text, std::uint64_t step_ns) noexcept {
  const auto parsed = parse_duration(text, step_ns);
  if (!parsed) return std::nullopt;
  constexpr std::uint64_t most = std::numeric_limits<Rep>::max();
  if (parsed->is_negative && parsed->magnitude != 0) {
    if (std::unsigned_integral<Rep> || parsed->magnitude - 1 > most) return std::nullopt;
    return static_cast<Rep>(-parsed->magnitude);
  }
  if (parsed->magnitude > most) return std::nullopt;
  return static_cast<Rep>(parsed->magnitude);
}
template <std::integral Rep>
ShortText<24> write_duration_of(Rep count, std::uint64_t step_ns) noexcept {
  const auto wide = static_cast<std::uint64_t>(count);
  return write_duration({count < 0, count < 0 ? -wide : wide}, step_ns);
}

inline constexpr Bytes duration_pattern = "^(-?[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d)|0)$";

}  // namespace detail

template <std::integral Rep, class Period>
struct TextForm<std::chrono::duration<Rep, Period>> {
  using Value = std::chrono::duration<Rep, Period>;
  static_assert(std::ratio_greater_equal_v<Period, std::nano> &&
                    (Period::den == 1 || Period::num == 1),
                "a duration in nanoseconds, microseconds, milliseconds, seconds, minutes, hours or "
                "days");
  static constexpr std::uint64_t step_ns = std::ratio_divide<Period, std::nano>::num;
  static constexpr Bytes unit = [] {
    Bytes name;
    for (const Unit& each : time_units) {
      if (each.size == step_ns) name = each.name;
    }
    if (name.empty()) throw "a duration in ns, us, ms, s, m, h or d";
    return name;
  }();

  static constexpr Bytes expected = step_ns == 1           ? "a duration such as 30s or 1500ms"
                                    : step_ns == 1'000     ? "a duration in whole us, such as 30s"
                                    : step_ns == 1'000'000 ? "a duration in whole ms, such as 30s"
                                    : step_ns == 1'000'000'000
                                        ? "a duration in whole seconds, such as 30s"
                                        : "a duration such as 90m or 2h";
  static constexpr Bytes schema_pattern = detail::duration_pattern;
  static std::optional<Value> parse(Bytes text) noexcept {
    const auto count = detail::parse_duration_as<Rep>(text, step_ns);
    return count ? std::optional(Value(*count)) : std::nullopt;
  }
  static ShortText<24> write(const Value& duration) noexcept {
    return detail::write_duration_of(duration.count(), step_ns);
  }
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
