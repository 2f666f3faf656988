#include "katana/base/text/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana {
namespace {

// By the definition: every number that is a character, encoded.
std::string encode(std::uint32_t number) {
  const auto octet = [](std::uint32_t value) { return static_cast<char>(value); };
  if (number < 0x80) return {octet(number)};
  if (number < 0x800) return {octet(0xc0 | number >> 6), octet(0x80 | (number & 63))};
  if (number < 0x10000) {
    return {octet(0xe0 | number >> 12), octet(0x80 | (number >> 6 & 63)),
            octet(0x80 | (number & 63))};
  }
  return {octet(0xf0 | number >> 18), octet(0x80 | (number >> 12 & 63)),
          octet(0x80 | (number >> 6 & 63)), octet(0x80 | (number & 63))};
}

TEST(Utf8, every_character_is_as_long_as_it_is_and_no_surrogate_is_one) {
  for (std::uint32_t number = 0; number < 0x110000; ++number) {
    const std::string text = encode(number);
    const bool surrogate = number >= 0xd800 && number < 0xe000;
    ASSERT_EQ(utf8_length(text + "z"), surrogate ? 0 : text.size()) << number;
    if (text.size() > 1) {
      ASSERT_EQ(utf8_length(text.substr(0, text.size() - 1)), 0u) << number;
    }
  }
}

TEST(Utf8, what_is_above_the_last_character_or_overlong_or_stray_is_none) {
  EXPECT_EQ(utf8_length(encode(0x110000)), 0u);
  EXPECT_EQ(utf8_length(""), 0u);
  for (const char* const text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
        "\xf5\x80\x80\x80", "\xff", "\xc3(", "\xe2\x82(", "\xf0\x9f\x98("}) {
    EXPECT_EQ(utf8_length(text), 0u) << text;
  }
}

TEST(Utf8, characters_are_taken_one_by_one_and_an_octet_that_is_none_is_replaced) {
  std::string shown;
  for (Bytes text = "a\xc3\xa9\xff\xe2\x82z\xf0\x9f\x98\x80"; !text.empty();) {
    shown.append(take_character(text)).append("|");
  }
  EXPECT_EQ(shown, "a|é|\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd|z|😀|");
}

TEST(Utf8, text_is_utf8_when_every_character_is_wherever_the_wrong_one_stands) {
  for (std::size_t size = 0; size < 20; ++size) {
    ASSERT_TRUE(is_utf8(std::string(size, 'a') + "é" + std::string(size, 'z')));
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\xc3';
      ASSERT_FALSE(is_utf8(text)) << size << ' ' << at;
    }
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
