#include "katana/base/text/slug.hpp"

namespace katana {

std::string slug_of(Bytes title) {
  std::string slug;
  bool is_between = false;
  for (const char c : title) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_lower = c >= 'a' && c <= 'z';
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_other = static_cast<unsigned char>(c) >= 0x80;
    if (!is_upper && !is_lower && !is_digit && !is_other) {
      is_between = true;
      continue;
    }
    if (is_between && !slug.empty()) slug.push_back('-');
    is_between = false;
    slug.push_back(is_upper ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return slug;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
