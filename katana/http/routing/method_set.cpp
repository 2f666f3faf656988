#include "katana/http/routing/method_set.hpp"

#include <array>
#include <cstddef>

namespace katana {
namespace {

struct AllowText {
  std::array<char, 63> text{};
  std::uint8_t size = 0;

  constexpr void append(Bytes more) noexcept {
    for (const char c : more) text[size++] = c;
  }
};

constexpr std::size_t set_count = std::size_t{1} << http::method_names.size();

// Every possible value, 32 KiB of constants. The methods that a 405 allows depend on the patterns
// that fit its path. A finished text needs neither allocation nor owner.
constexpr std::array<AllowText, set_count> make_allow_table() {
  std::array<AllowText, set_count> table{};
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    for (std::size_t method = 0; method < http::method_names.size(); ++method) {
      if ((bits >> method & 1U) == 0) continue;
      if (table[bits].size > 0) table[bits].append(", ");
      table[bits].append(http::method_names[method]);
    }
  }
  return table;
}

constexpr auto allow_table = make_allow_table();

}  // namespace

Bytes allow_value(MethodSet methods) noexcept {
  const AllowText& allow = allow_table[methods.bits()];
  return {allow.text.data(), allow.size};
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
