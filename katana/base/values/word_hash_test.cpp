#include "katana/base/values/word_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace katana {
namespace {

TEST(WordHash, is_the_same_under_the_same_key_alone) {
  const WordHash first(1, 2), same(1, 2), other(1, 3), another(2, 2);
  EXPECT_EQ(first.of(7), same.of(7));
  EXPECT_NE(first.of(7), other.of(7));
  EXPECT_NE(first.of(7), another.of(7));
  EXPECT_NE(first.of(7), first.of(8));
}

// The count of the fullest of 256 places, over which eight hash bits distribute 64 K words. The
// average is 256 words, and 323 is four standard deviations more.
int fullest(const WordHash& hash, unsigned shift, const std::function<std::uint64_t(int)>& word) {
  std::array<int, 256> places{};
  for (int index = 0; index < 65'536; ++index) {
    ++places[hash.of(word(index)) >> shift & 255];
  }
  return *std::ranges::max_element(places);
}

TEST(WordHash, words_of_any_progression_spread_over_the_places) {
  for (std::uint64_t key = 0; key < 8; ++key) {
    const WordHash hash(key, ~key);
    for (const unsigned shift : {0u, 20u, 32u, 40u, 56u}) {
      for (int bit = 0; bit < 48; bit += 3) {
        const int most = fullest(
            hash, shift, [bit](int index) { return static_cast<std::uint64_t>(index) << bit; });
        EXPECT_LE(most, 345) << "key " << key << " shift " << shift << " step 2^" << bit;
      }
      const int most = fullest(hash, shift, [](int index) {
        return static_cast<std::uint64_t>(index) * 0x9e37'79b9'7f4a'7c15;
      });
      EXPECT_LE(most, 345);
    }
  }
}

TEST(WordHash, a_step_that_met_once_does_not_meet_again_and_again) {
  // Two words that share twelve bits of their hashes; adding their difference to others gives
  // words that share them as seldom as any.
  const WordHash hash(5, 6);
  std::uint64_t word = 1;
  while ((hash.of(0) ^ hash.of(word)) << 52 != 0) ++word;
  int met = 0;
  for (std::uint64_t index = 1; index <= 4096; ++index) {
    met += (hash.of(index * word) ^ hash.of((index + 1) * word)) << 52 == 0 ? 1 : 0;
  }
  EXPECT_LE(met, 8) << "one of 4096 would be chance";
}

TEST(WordHash, a_bit_of_the_word_changes_half_the_bits_of_the_hash) {
  const WordHash hash(3, 4);
  int changed = 0;
  for (int bit = 0; bit < 64; ++bit) {
    for (std::uint64_t word = 0; word < 64; ++word) {
      changed += std::popcount(hash.of(word) ^ hash.of(word ^ std::uint64_t{1} << bit));
    }
  }
  EXPECT_NEAR(changed / 64.0 / 64.0, 32, 1);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
