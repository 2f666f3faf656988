// Utf8Stream: checks whether text that comes in pieces is UTF-8, up to the first byte that is not.
//
// Owns       the bytes that are still expected of a character that was cut.
// Thread     a value.
// Allocates  never.
// Fails      check() is false; the text is then over.
// Invariant  the answers do not depend on where the text is cut.
// Source     RFC 3629 §4; the Unicode Standard, table 3-7.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::ws {

class Utf8Stream {
 public:
  // False: with this piece the text is not UTF-8, whatever follows.
  bool check(Bytes piece) noexcept;
  // The text may end here.
  bool complete() const noexcept { return left_ == 0; }
  void restart() noexcept { left_ = 0; }

 private:
  bool begin_character(std::uint8_t lead) noexcept;

  std::uint8_t left_ = 0;  // bytes that the character still has
  // The next of them lies between these.
  std::uint8_t lowest_ = 0x80;
  std::uint8_t highest_ = 0xbf;
};

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
