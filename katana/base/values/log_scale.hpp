// Log scale: whole numbers in buckets with a width of 2^-bits of their value, as in an HDR
// histogram. There is one bucket for each number below 2^(bits + 1), and 2^bits for each doubling
// above.
//
// Thread     any.
// Allocates  never.
// Fails      never.
// Invariant  log_lower(i) <= value <= log_upper(i) for i = log_bucket(value), and buckets ascend
//            with their values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace katana {

// The number of the bucket that counts `value`, from 0.
constexpr std::size_t log_bucket(std::uint64_t value, unsigned bits) noexcept {
  const auto shift =
      static_cast<unsigned>(std::bit_width(value | std::uint64_t{1} << bits)) - 1 - bits;
  return (std::size_t{shift} << bits) + static_cast<std::size_t>(value >> shift);
}

// The smallest value that is counted in bucket `index`.
constexpr std::uint64_t log_lower(std::size_t index, unsigned bits) noexcept {
  const std::size_t block = index >> bits;
  if (block == 0) return index;
  const std::uint64_t unit = std::uint64_t{1} << bits;
  return (unit + (index & (unit - 1))) << (block - 1);
}

// The largest value that is counted in bucket `index`.
constexpr std::uint64_t log_upper(std::size_t index, unsigned bits) noexcept {
  return log_lower(index + 1, bits) - 1;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
