#include "katana/base/values/described.hpp"
#include <fmt/format.h>

namespace katana {

void append_pointer(std::string& pointer, Bytes name) {
  pointer.push_back('/');
  for (const char c : name) {
    if (c == '~') {
      pointer.append("~0");
    } else if (c == '/') {
      pointer.append("~1");
    } else {
      pointer.push_back(c);
    }
  }
}

void append_pointer(std::string& pointer, std::size_t index) {
  pointer.append(fmt::format("/{}", index));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
