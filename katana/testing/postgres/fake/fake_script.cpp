#include "katana/testing/postgres/fake/fake_script.hpp"

namespace katana::testing {

std::string in_one_line(Bytes text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == ';')) line.pop_back();
  return line;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
