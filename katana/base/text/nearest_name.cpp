#include "katana/base/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace katana {
namespace {

constexpr std::size_t compared_max = 40;  // longer names are rarely mistyped by a few characters

char lower_of(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

}  // namespace

std::size_t edit_distance(Bytes from, Bytes to) noexcept {
  if (from.size() > compared_max || to.size() > compared_max) return compared_max;
  std::array<std::array<std::uint8_t, compared_max + 1>, compared_max + 1> cost;
  for (std::size_t row = 0; row <= from.size(); ++row) {
    for (std::size_t column = 0; column <= to.size(); ++column) {
      auto& best = cost[row][column];
      if (row == 0 || column == 0) {
        best = static_cast<std::uint8_t>(row + column);
        continue;
      }
      const bool same = lower_of(from[row - 1]) == lower_of(to[column - 1]);
      best =
          static_cast<std::uint8_t>(std::min({cost[row - 1][column] + 1, cost[row][column - 1] + 1,
                                              cost[row - 1][column - 1] + (same ? 0 : 1)}));
      if (row > 1 && column > 1 && lower_of(from[row - 1]) == lower_of(to[column - 2]) &&
          lower_of(from[row - 2]) == lower_of(to[column - 1])) {
        best = std::min(best, static_cast<std::uint8_t>(cost[row - 2][column - 2] + 1));
      }
    }
  }
  return cost[from.size()][to.size()];
}

std::string_view nearest_name(Bytes typed, std::span<const std::string_view> names) noexcept {
  if (typed.size() > compared_max) return {};  // edit_distance() does not look at it
  std::string_view nearest;
  std::size_t least = std::min(std::max<std::size_t>(typed.size() / 3, 1) + 1, typed.size());
  for (const std::string_view name : names) {
    if (const std::size_t away = edit_distance(typed, name); away < least) {
      least = away;
      nearest = name;
    }
  }
  return nearest;
}

std::string nearest_hint(Bytes typed, std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(typed, names);
  return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
