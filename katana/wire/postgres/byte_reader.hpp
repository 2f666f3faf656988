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

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::postgres {

class ByteReader {
 public:
  explicit constexpr ByteReader(Bytes body) noexcept : rest_(body) {}

  // The next byte.
  constexpr std::uint8_t take_8() noexcept { return static_cast<std::uint8_t>(number<1>()); }
  // The next two bytes, in network order.
  constexpr std::uint16_t take_16() noexcept { return static_cast<std::uint16_t>(number<2>()); }
  // The next four bytes, in network order.
  constexpr std::uint32_t take_32() noexcept { return number<4>(); }
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
  template <std::size_t size>
  constexpr std::uint32_t number() noexcept {
    if (rest_.size() < size) {
      fail();
      return 0;
    }
    const char* const from = rest_.data();
    std::uint32_t made = 0;
    for (std::size_t at = 0; at < size; ++at) {
      made = made << 8 | static_cast<unsigned char>(from[at]);
    }
    rest_ = Bytes(from + size, rest_.size() - size);
    return made;
  }

  Bytes rest_;
  bool is_good_ = true;
};

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
