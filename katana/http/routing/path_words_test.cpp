#include "katana/http/routing/path_words.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace katana::detail {
namespace {

// Returns a heap copy of exactly this size: a sanitizer then sees a read beyond it.
std::vector<char> exact(std::string_view text) { return {text.begin(), text.end()}; }

TEST(PathWords, a_segment_ends_at_the_first_slash_or_with_the_path_whatever_its_length) {
  for (std::size_t size = 0; size < 40; ++size) {
    for (std::size_t slash = 0; slash <= size; ++slash) {
      std::string text(size, '.');  // the byte below '/'
      if (slash < size) text[slash] = '/';
      if (slash + 1 < size) text[slash + 1] = '0';  // the byte above it
      const std::vector<char> path = exact(text);
      const char* const end = path.data() + path.size();
      EXPECT_EQ(segment_end(path.data(), end) - path.data(), static_cast<std::ptrdiff_t>(slash))
          << text;
    }
  }
}

TEST(PathWords, a_short_word_has_each_byte_in_its_place_and_zeros_above) {
  for (std::size_t size = 0; size < 8; ++size) {
    const std::vector<char> text = exact(std::string_view("\x01\x02\x03\x04\x05\x06\x07", size));
    std::uint64_t word = 0;
    for (std::size_t at = 0; at < size; ++at) word |= std::uint64_t{at + 1} << at * 8;
    EXPECT_EQ(read_short_word(text.data(), size), word) << size;
  }
}

TEST(PathWords, keys_of_short_paths_are_equal_only_if_the_paths_are) {
  for (std::size_t size = 1; size <= key_bytes; ++size) {
    const std::string path(size, 'a');
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = path;
      other[at] = 'b';
      EXPECT_NE(key_of(path), key_of(other)) << size << " " << at;
    }
    EXPECT_NE(key_of(path), key_of(path + std::string(1, '\0'))) << size;
  }
}

TEST(PathWords, every_byte_of_a_long_path_counts_for_its_hash) {
  const std::string path(100, 'a');
  const std::uint64_t hash = hash_of(key_of(path), path);
  for (std::size_t at = 0; at < path.size(); ++at) {
    std::string other = path;
    other[at] = 'b';
    EXPECT_NE(hash_of(key_of(other), other), hash) << at;
  }
}

}  // namespace
}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
