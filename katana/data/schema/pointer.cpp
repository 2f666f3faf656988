#include "katana/data/schema/pointer.hpp"

namespace katana::schema {

std::string escaped(Bytes name) {
  std::string made;
  for (const char each : name) {
    if (each == '~') {
      made += "~0";
    } else if (each == '/') {
      made += "~1";
    } else {
      made += each;
    }
  }
  return made;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
