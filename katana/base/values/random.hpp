// Random: numbers from a seed, by xoshiro256** with a period of 2^256 - 1. For simulations, plans
// and names; they are not secret.
//
// Owns       32 bytes of state.
// Allocates  never.
// Thread     one.
// Fails      never.
// Invariant  a seed gives the same numbers on every machine. Therefore it uses no std
//            distributions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace katana {

class Random {
 public:
  // The state is filled by splitmix64, as the authors of xoshiro256** advise.
  explicit constexpr Random(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
      word = mixed ^ (mixed >> 31);
    }
  }

  // The next number. All 64 bits are equally random.
  constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // A number with 0 ≤ result < bound. REQUIRES bound > 0. The bias of the remainder is below 2^-32
  // for the bounds used here.
  std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }
  // A number with min ≤ result ≤ max.
  std::uint64_t between(std::uint64_t min, std::uint64_t max) noexcept {
    return min + below(max - min + 1);
  }
  // True in `per_1024` of 1024 cases.
  bool chance(std::uint32_t per_1024) noexcept { return below(1024) < per_1024; }

 private:
  std::uint64_t state_[4]{};
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
