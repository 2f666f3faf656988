// Fixed-width numbers in bytes of either order.
//
// Thread     any.
// Allocates  never.
#pragma once

#include <bit>
#include <concepts>
#include <cstring>

namespace katana::container::detail {

template <std::unsigned_integral T>
constexpr T to_big(T number) noexcept {
  if constexpr (sizeof(T) == 1 || std::endian::native == std::endian::big) return number;
  return std::byteswap(number);
}
template <std::unsigned_integral T>
constexpr T to_little(T number) noexcept {
  if constexpr (sizeof(T) == 1 || std::endian::native == std::endian::little) return number;
  return std::byteswap(number);
}

template <class T>
inline char* put_raw(char* at, T number) noexcept {
  std::memcpy(at, &number, sizeof number);
  return at + sizeof number;
}
template <class T>
inline T get_raw(const char* at) noexcept {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
