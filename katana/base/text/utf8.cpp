#include "katana/base/text/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace katana {

bool is_utf8(Bytes text) noexcept {
  while (!text.empty()) {
    std::uint64_t word = 0;
    while (text.size() >= sizeof word) {  // ASCII, eight at a time
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & 0x8080808080808080u) != 0) break;
      text.remove_prefix(sizeof word);
    }
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
