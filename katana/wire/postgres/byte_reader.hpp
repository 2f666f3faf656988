// ByteReader: takes numbers and texts from the front of a message's body.
//
// Borrows    the body.
// Thread     a value.
// Allocates  never.
// Fails      is_good() is false once something was to be taken that is not there; numbers are then
//            0 and texts empty.
// Invariant  it never reads beyond the body.
// Source     PostgreSQL 18, "Message Data Types": integers have the most significant byte first
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "katana/base/text/bytes.hpp"

namespace katana::postgres {

// An unsigned number at `from`, in network order.
template <class Number>
constexpr Number read_number(const char* from) noexcept {
  if consteval {
    Number made = 0;
    for (std::size_t at = 0; at < sizeof(Number); ++at) {
      made = static_cast<Number>(made << 8 | static_cast<unsigned char>(from[at]));
    }
    return made;
  } else {
    Number made = 0;
    std::memcpy(&made, from, sizeof made);
    return std::endian::native == std::endian::little ? std::byteswap(made) : made;
  }
}

class ByteReader {
 public:
  explicit constexpr ByteReader(Bytes body) noexcept : rest_(body) {}

  // The next byte.
  constexpr std::uint8_t take_8() noexcept { return number<std::uint8_t>(); }
  // The next two bytes, in network order.
  constexpr std::uint16_t take_16() noexcept { return number<std::uint16_t>(); }
  // The next four bytes, in network order.
  constexpr std::uint32_t take_32() noexcept { return number<std::uint32_t>(); }
  // The next `count` bytes.
  constexpr Bytes take(std::size_t count) noexcept {
    if (count > rest_.size()) {
      fail();
      return {};
    }
    const Bytes taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  // A text and its zero byte; the result is without it.
  constexpr Bytes take_text() noexcept {
    const std::size_t end = rest_.find('\0');
    if (end == Bytes::npos) {
      fail();
      return {};
    }
    const Bytes taken = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return taken;
  }

  // False: a call wanted more bytes than there were.
  constexpr bool is_good() const noexcept { return is_good_; }
  // All of the body was taken, and nothing more.
  constexpr bool is_at_end() const noexcept { return is_good_ && rest_.empty(); }
  constexpr Bytes rest() const noexcept { return rest_; }

 private:
  constexpr void fail() noexcept {
    is_good_ = false;
    rest_ = {};
  }
  template <class Number>
  constexpr Number number() noexcept {
    if (rest_.size() < sizeof(Number)) {
      fail();
      return 0;
    }
    const char* const from = rest_.data();
    rest_ = Bytes(from + sizeof(Number), rest_.size() - sizeof(Number));
    return read_number<Number>(from);
  }

  Bytes rest_;
  bool is_good_ = true;
};

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
