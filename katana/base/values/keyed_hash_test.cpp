#include "katana/base/values/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace katana {
namespace {

TEST(KeyedHash, the_hash_depends_on_the_text_its_size_and_the_key) {
  const KeyedHash hash(1, 2);
  EXPECT_EQ(hash.of("abc"), hash.of("abc"));
  EXPECT_NE(hash.of("abc"), hash.of("abd"));
  EXPECT_NE(hash.of(Bytes("a\0", 2)), hash.of("a"));
  EXPECT_NE(hash.of("12345678"), hash.of(Bytes("12345678\0", 9)));
  EXPECT_NE(hash.of("abc"), KeyedHash(1, 3).of("abc"));
  EXPECT_NE(hash.of("abc"), KeyedHash(2, 2).of("abc"));
}

TEST(KeyedHash, two_words_have_the_hash_of_their_octets) {
  const std::array<std::uint64_t, 2> words = {0x0123456789abcdef, 42};
  std::array<char, 16> octets;
  std::memcpy(octets.data(), words.data(), octets.size());
  const KeyedHash hash(7, 8);
  EXPECT_EQ(hash.of(words[0], words[1]), hash.of(Bytes(octets.data(), octets.size())));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
