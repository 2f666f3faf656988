#include "katana/base/text/json_string.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <string>

#include "katana/base/text/utf8.hpp"

namespace katana {
namespace {

std::string json_text(Bytes text) {
  Text out("x");
  append_json_text(out, text);
  return std::string(out.bytes());
}

// The definition, byte by byte, with which the fast path must agree.
std::string plainly_escaped(Bytes text) {
  std::string out = "x\"";
  while (!text.empty()) {
    const Bytes character = take_character(text);
    const char c = character[0];
    const Bytes known = "\"\\\b\f\n\r\t";
    if (const std::size_t at = known.find(c); at != Bytes::npos) {
      out.append({'\\', "\"\\bfnrt"[at]});
    } else if (static_cast<std::uint8_t>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += character;
    }
  }
  return out + '"';
}

TEST(JsonString, any_pair_of_octets_is_escaped_at_any_place_of_a_text) {
  for (int pair = 0; pair < 256 * 256; ++pair) {
    std::string text(static_cast<std::size_t>(pair % 41), 'a');
    text.insert(text.size() / 2, {static_cast<char>(pair >> 8), static_cast<char>(pair)});
    ASSERT_EQ(json_text(text), plainly_escaped(text)) << pair;
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
