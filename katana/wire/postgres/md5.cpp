#include "katana/wire/postgres/md5.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace katana::postgres {
namespace {

// RFC 1321 §3.4: 2^32 times the absolute sine of 1 to 64.
constexpr std::array<std::uint32_t, 64> sines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
constexpr std::array<std::array<int, 4>, 4> turns = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

class Md5 {
 public:
  void add(Bytes bytes) noexcept {
    for (const char octet : bytes) {
      block_[size_++ % 64] = static_cast<unsigned char>(octet);
      if (size_ % 64 == 0) mix();
    }
  }
  Md5Text text() noexcept {
    const std::uint64_t bits = size_ * 8;
    add("\x80");
    while (size_ % 64 != 56) add(Bytes("", 1));
    for (int shift = 0; shift < 64; shift += 8) {
      const char octet = static_cast<char>(bits >> shift);
      add(Bytes(&octet, 1));
    }
    Md5Text made{};
    for (std::size_t at = 0; at < 16; ++at) {
      const auto octet = static_cast<unsigned char>(state_[at / 4] >> (8 * (at % 4)));
      made[2 * at] = "0123456789abcdef"[octet >> 4];
      made[2 * at + 1] = "0123456789abcdef"[octet & 15];
    }
    return made;
  }

 private:
  // Words have the least significant byte first.
  std::uint32_t word(std::size_t index) const noexcept {
    std::uint32_t made = 0;
    for (std::size_t at = 4; at-- > 0;) made = made << 8 | block_[4 * index + at];
    return made;
  }
  void mix() noexcept {
    auto [a, b, c, d] = state_;
    for (std::uint32_t step = 0; step < 64; ++step) {
      std::uint32_t mixed = 0;
      std::uint32_t index = 0;
      switch (step / 16) {
        case 0: mixed = (b & c) | (~b & d), index = step; break;
        case 1: mixed = (d & b) | (~d & c), index = 5 * step + 1; break;
        case 2: mixed = b ^ c ^ d, index = 3 * step + 5; break;
        default: mixed = c ^ (b | ~d), index = 7 * step; break;
      }
      const std::uint32_t sum = a + mixed + sines[step] + word(index % 16);
      a = d;
      d = c;
      c = b;
      b += std::rotl(sum, turns[step / 16][step % 4]);
    }
    state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d};
  }

  std::array<std::uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<unsigned char, 64> block_{};
  std::uint64_t size_ = 0;
};

}  // namespace

Md5Text md5_of(Bytes first, Bytes second) noexcept {
  Md5 md5;
  md5.add(first);
  md5.add(second);
  return md5.text();
}

Md5Answer md5_answer(Bytes user, Bytes password, Bytes salt) noexcept {
  const Md5Text inner = md5_of(password, user);
  const Md5Text outer = md5_of({inner.data(), inner.size()}, salt);
  Md5Answer made{'m', 'd', '5'};
  std::ranges::copy(outer, made.begin() + 3);
  return made;
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
