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

// Every possible value, 32 KiB of constants. The methods that a 405 allows depend on the patterns
// that fit its path. A finished text needs neither allocation nor owner.
constexpr std::array<AllowText, 1U << http::method_names.size()> make_allow_table() {
  std::array<AllowText, 1U << http::method_names.size()> table{};
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
