#include "katana/base/values/quantity.hpp"

namespace katana {
namespace {

constexpr bool is_quantity_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Appends a digit. False: the number does not fit into 64 bits.
bool append_decimal(std::uint64_t& value, char digit) noexcept {
  return !__builtin_mul_overflow(value, 10u, &value) &&
         !__builtin_add_overflow(value, static_cast<std::uint64_t>(digit - '0'), &value);
}

}  // namespace

Quantity Quantity::take(Bytes& text) noexcept {
  Quantity number;
  for (; !text.empty() && is_quantity_digit(text.front()); text.remove_prefix(1)) {
    number.valid = true;
    if (!append_decimal(number.whole, text.front())) number.large = true;
  }
  if (!number.valid || text.size() < 2 || text[0] != '.' || !is_quantity_digit(text[1]))
    return number;
  text.remove_prefix(1);
  for (; !text.empty() && is_quantity_digit(text.front()); text.remove_prefix(1)) {
    std::uint64_t of = number.part_of;
    if (!append_decimal(of, '0') || !append_decimal(number.part, text.front())) number.large = true;
    number.part_of = of;
  }
  return number;
}

// 0 ≤ part < part_of ≤ 10^19, unless it is large.
bool Quantity::count(std::uint64_t unit, std::uint64_t step, std::uint64_t limit,
                     std::uint64_t& result) const noexcept {
  __extension__ using Wide = unsigned __int128;
  if (large) return false;
  const Wide fraction = Wide{part} * unit;
  if (fraction % part_of != 0) return false;
  const Wide sum = Wide{whole} * unit + fraction / part_of;
  if (sum % step != 0 || sum / step > limit) return false;
  result = static_cast<std::uint64_t>(sum / step);
  return true;
}

const Unit& largest_unit(std::uint64_t count, std::uint64_t step,
                         std::span<const Unit> units) noexcept {
  const Unit* best = nullptr;
  for (const Unit& unit : units) {
    if (unit.size < step) continue;
    const std::uint64_t steps = unit.size / step;
    if (best == nullptr || (count % steps == 0 && count >= steps && unit.size >= best->size)) {
      best = &unit;
    }
  }
  return best != nullptr ? *best : units.back();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
