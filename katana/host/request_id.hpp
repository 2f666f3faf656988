// RequestIds: names for requests that nobody has named yet. is_request_id(): a name that somebody
// else gave, and that may stand in a log and in a reply.
//
// Owns       its state.
// Thread     one; each thread has its own.
// Allocates  never.
// Fails      never.
// Invariant  an id is 32 hexadecimal digits of 128 bits that do not repeat; they are no secret, and
//            must not be used as one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "katana/base/bytes.hpp"

namespace katana::host {

inline constexpr std::size_t request_id_bytes = 32;
inline constexpr std::size_t request_id_bytes_max = 128;  // of one that is accepted

// Letters, digits and "-_.:/+=@,": what needs no quotes anywhere.
constexpr bool is_request_id(Bytes text) noexcept {
  constexpr auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           Bytes("-_.:/+=@,").find(c) != Bytes::npos;
  };
  return !text.empty() && text.size() <= request_id_bytes_max && std::ranges::all_of(text, good);
}

class RequestIds {
 public:
  // Two generators of different seeds do not meet in the life of a program.
  explicit constexpr RequestIds(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) word = scramble(seed += golden);
  }

  void next(std::span<char, request_id_bytes> id) noexcept {
    write(draw(), id.data());
    write(draw(), id.data() + 16);
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

  static constexpr std::uint64_t scramble(std::uint64_t word) noexcept {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }
  // xoshiro256++: a period of 2^256 - 1.
  std::uint64_t draw() noexcept {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  static void write(std::uint64_t word, char* to) noexcept {
    for (int digit = 0; digit < 16; ++digit, word <<= 4) to[digit] = "0123456789abcdef"[word >> 60];
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace katana::host
