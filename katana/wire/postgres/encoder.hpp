// Encoder: writes one message, whose size is known, to an Output. It collects small parts, so that
// most messages are written at once.
//
// Borrows    the output.
// Thread     a value.
// Allocates  never.
// Fails      never: the caller has asked the output for room.
// Invariant  the parts are exactly as many bytes as the length says; else the process ends, because
//            the server would take the rest for another message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "katana/base/system/check.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/wire/postgres/limits.hpp"
#include "katana/wire/postgres/output.hpp"

namespace katana::postgres {

class Encoder {
 public:
  // `body`: the bytes of the message without its type and its length.
  Encoder(char type, std::size_t body, const Output& output) noexcept
      : output_(output), left_(body + header_bytes) {
    put_8(static_cast<std::uint8_t>(type));
    put_32(static_cast<std::uint32_t>(body + 4));
  }
  // A message of a start, which has no type.
  Encoder(std::size_t body, const Output& output) noexcept : output_(output), left_(body + 4) {
    put_32(static_cast<std::uint32_t>(body + 4));
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    KATANA_CHECK(left_ == 0);
    flush();
  }

  // One byte.
  void put_8(std::uint8_t number) noexcept { put_number<1>(number); }
  // Two bytes, in network order.
  void put_16(std::uint16_t number) noexcept { put_number<2>(number); }
  // Four bytes, in network order.
  void put_32(std::uint32_t number) noexcept { put_number<4>(number); }
  // The bytes as they are.
  void put(Bytes bytes) noexcept {
    KATANA_CHECK(bytes.size() <= left_);
    left_ -= bytes.size();
    if (bytes.size() > collected_.size() - size_) flush();
    if (bytes.size() > collected_.size()) {
      output_.write(bytes);
      return;
    }
    if (!bytes.empty()) std::memcpy(collected_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  // The text with a zero byte behind it.
  void put_text(Bytes text) noexcept {
    put(text);
    put_8(0);
  }

 private:
  template <int size>
  void put_number(std::uint32_t number) noexcept {
    std::array<char, size> bytes;
    for (int at = size - 1; at >= 0; --at) {
      bytes[static_cast<std::size_t>(at)] = static_cast<char>(number);
      number >>= 8;
    }
    put({bytes.data(), bytes.size()});
  }
  void flush() noexcept {
    if (size_ > 0) output_.write({collected_.data(), size_});
    size_ = 0;
  }

  const Output& output_;
  std::size_t left_;
  std::size_t size_ = 0;
  std::array<char, 256> collected_;
};

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
