#include "katana/base/values/duration_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::detail {

std::optional<SignedCount> parse_duration(Bytes text, std::uint64_t step_ns) noexcept {
  SignedCount count{.is_negative = text.starts_with('-'), .magnitude = 0};
  if (count.is_negative) text.remove_prefix(1);
  if (text == "0" && !count.is_negative) return count;
  const Quantity number = Quantity::take(text);
  const auto unit = std::ranges::find(time_units, text, &Unit::name);
  if (!number.valid || unit == time_units.end() ||
      !number.count(unit->size, step_ns, UINT64_MAX, count.magnitude)) {
    return std::nullopt;
  }
  return count;
}

ShortText<24> write_duration(SignedCount count, std::uint64_t step_ns) noexcept {
  if (count.magnitude == 0) return ShortText<24>("0s");
  const Unit& unit = largest_unit(count.magnitude, step_ns, time_units);
  ShortText<24> text;
  if (count.is_negative) text.push_back('-');
  const fmt::format_int digits(count.magnitude / (unit.size / step_ns));
  text.append({digits.data(), digits.size()});
  text.append(unit.name);
  return text;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
