// Paths as words of eight bytes: the key of a route, its hash, and the end of a segment.
//
// Borrows    the path, for the call.
// Thread     any.
// Allocates  never.
// Invariant  no read passes the end of the path.
//
// The hash is a 64x64 to 128 bit multiplication folded onto itself (the step of wyhash). It covers
// the first and the last eight bytes, which may overlap, and the words between. There is no secret
// seed, because paths are only looked up: nothing that a client sends is inserted. The longest run
// of occupied slots is fixed when the table is built, and no choice of paths makes it longer.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "katana/base/text/bytes.hpp"

namespace katana::detail {

// The key of a path. Up to 16 bytes the two words are all of it: equal keys, equal paths.
struct RouteKey {
  std::uint64_t size = UINT64_MAX;
  std::uint64_t first = 0;  // the first eight bytes, or all if there are fewer
  std::uint64_t last = 0;   // the last eight bytes, or none if there are fewer
  bool operator==(const RouteKey&) const noexcept = default;
};

template <class Word>
inline std::uint64_t read_little_endian(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
  return word;
}

inline std::uint64_t read_word(const char* from) noexcept {
  return read_little_endian<std::uint64_t>(from);
}

// Reads a word of fewer than eight bytes, with zeros above. Reads overlap instead of passing the
// end: a byte that is read twice is at the same place both times.
inline std::uint64_t read_short_word(const char* from, std::size_t size) noexcept {
  const auto half = read_little_endian<std::uint32_t>;
  const auto byte = read_little_endian<std::uint8_t>;
  if (size >= 4) return half(from) | half(from + size - 4) << (size - 4) * 8;
  if (size == 0) return 0;
  const std::size_t middle = size / 2;
  return byte(from) | byte(from + middle) << middle * 8 | byte(from + size - 1) << (size - 1) * 8;
}

// The low bit of each byte.
inline constexpr std::uint64_t each_byte = 0x0101010101010101;
inline constexpr std::uint64_t all_slashes = '/' * each_byte;

// The lowest set bit is the highest bit of the lowest '/'; zero if there is none. Bits above the
// lowest may be false.
inline std::uint64_t slashes_in(std::uint64_t word) noexcept {
  const std::uint64_t zero_if_slash = word ^ all_slashes;
  return (zero_if_slash - each_byte) & ~zero_if_slash & (each_byte << 7);
}

inline constexpr std::size_t key_bytes = 16;

inline RouteKey key_of(Bytes path) noexcept {
  const char* const text = path.data();
  const std::size_t size = path.size();
  if (size < 8) return {size, read_short_word(text, size), 0};
  return {size, read_word(text), read_word(text + size - 8)};
}

inline std::uint64_t fold_product(std::uint64_t left, std::uint64_t right) noexcept {
  __extension__ using Wide = unsigned __int128;  // an extension of both compilers
  const Wide product = static_cast<Wide>(left) * right;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Odd words with about as many ones as zeros; otherwise arbitrary.
inline constexpr std::uint64_t first_factor = 0xa0761d6478bd642f;
inline constexpr std::uint64_t last_factor = 0xe7037ed1a0b428db;
inline constexpr std::uint64_t middle_factor = 0x8ebc6af09c88c6e3;

// For a path of at most key_bytes.
inline std::uint64_t hash_of(const RouteKey& key) noexcept {
  return fold_product(key.first ^ first_factor, key.last ^ key.size ^ last_factor);
}

inline std::uint64_t hash_of(RouteKey key, Bytes path) noexcept {
  for (std::size_t at = 8; at + 8 < path.size(); at += 8) {
    key.last = fold_product(key.last ^ read_word(path.data() + at), middle_factor);
  }
  return hash_of(key);
}

// Not inlined: a short segment then does not pay for the constants.
[[gnu::noinline]] inline const char* long_segment_end(const char* at, const char* end) noexcept {
  for (; end - at >= 8; at += 8) {
    const std::uint64_t slashes = slashes_in(read_word(at));
    if (slashes != 0) return at + std::countr_zero(slashes) / 8;
  }
  while (at != end && *at != '/') ++at;
  return at;
}

inline const char* segment_end(const char* at, const char* end) noexcept {
  constexpr std::ptrdiff_t short_bytes = 8;
  const char* const limit = end - at > short_bytes ? at + short_bytes : end;
  for (; at != limit; ++at) {
    if (*at == '/') return at;
  }
  return at == end ? at : long_segment_end(at, end);
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
