#include "katana/wire/postgres/password_form.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/utf8.hpp"

namespace katana::postgres {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Characters of Unicode 3.2 that are their own NFKC form and combine with no other one. They are
// written from left to right. RFC 4013 neither maps nor prohibits them. The Unicode Character
// Database and the tables of RFC 3454 gave these ranges.
constexpr Range unchanged[] = {
    {0x00a1, 0x00a7}, {0x00a9, 0x00a9}, {0x00ab, 0x00ac}, {0x00ae, 0x00ae}, {0x00b0, 0x00b1},
    {0x00b6, 0x00b7}, {0x00bb, 0x00bb}, {0x00bf, 0x0131}, {0x0134, 0x013e}, {0x0141, 0x0148},
    {0x014a, 0x017e}, {0x0180, 0x01c3}, {0x01cd, 0x01f0}, {0x01f4, 0x0220}, {0x0222, 0x0233},
    {0x0250, 0x02ad}, {0x0386, 0x0386}, {0x0388, 0x038a}, {0x038c, 0x038c}, {0x038e, 0x03a1},
    {0x03a3, 0x03ce}, {0x0400, 0x0482}, {0x048a, 0x04ce}, {0x04d0, 0x04f5}, {0x04f8, 0x04f9},
    {0x0500, 0x050f}, {0x1e00, 0x1e99}, {0x1ea0, 0x1ef9}, {0x20ac, 0x20ac}, {0x3041, 0x3096},
    {0x30a0, 0x30fe}, {0x3400, 0x4db5}, {0x4e00, 0x9fa5}, {0xac00, 0xd7a3}};

// The code point of one well-formed character.
std::uint32_t code_point(Bytes character) noexcept {
  const auto lead = static_cast<unsigned char>(character.front());
  if (lead < 0x80) return lead;
  std::uint32_t made = lead & (0xffu >> (character.size() + 1));
  for (const char octet : character.substr(1)) {
    made = made << 6 | (static_cast<unsigned char>(octet) & 0x3fu);
  }
  return made;
}

bool is_unchanged(std::uint32_t code) noexcept {
  return code < 0x80 ||
         std::ranges::any_of(
             unchanged,
             [code](const Range& range) { return code >= range.first && code <= range.last; });
}

}  // namespace

bool is_prepared_password(Bytes password) noexcept {
  if (!is_utf8(password)) return true;
  while (!password.empty()) {
    const std::size_t size = utf8_length(password);
    if (!is_unchanged(code_point(password.substr(0, size)))) return false;
    password.remove_prefix(size);
  }
  return true;
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
