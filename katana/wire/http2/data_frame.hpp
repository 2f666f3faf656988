// DataFrame: the DATA frame that is being read, a piece at a time. Other frames are read when they
// are whole; this one may be passed on as it comes.
//
// Owns       two words.
// Borrows    the input, for the call; a piece is part of it.
// Thread     its machine's.
// Allocates  never.
// Fails      begin() says which rule the frame breaks (RFC 9113 §6.1).
// Invariant  the pieces in sum are the frame's content, however the input is cut.
#pragma once

#include <algorithm>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http2/failure.hpp"
#include "katana/wire/http2/frame.hpp"

namespace katana::http2 {

class DataFrame {
 public:
  // Result of begin().
  struct Begun {
    Failure failure = Failure::none;  // none: the frame may be read
    std::size_t consumed = 0;         // 0: the length of the padding has not come yet
  };

  // `input` begins with the frame's header.
  Begun begin(const FrameHeader& header, Bytes input) noexcept {
    if (header.stream == 0) return {.failure = Failure::bad_frame};
    const std::size_t length_bytes = header.has(flag_padded) ? 1 : 0;
    std::size_t padding = 0;
    if (length_bytes != 0) {
      if (header.size == 0) return {.failure = Failure::bad_frame_size};
      if (input.size() == frame_header_bytes) return {};
      padding = static_cast<unsigned char>(input[frame_header_bytes]);
      if (padding >= header.size) return {.failure = Failure::bad_frame};
    }
    ends_stream_ = header.has(flag_end_stream);
    padding_left_ = static_cast<std::uint16_t>(padding);
    left_ = static_cast<std::uint32_t>(header.size - padding - length_bytes);
    return {.consumed = frame_header_bytes + length_bytes};
  }

  // The next piece of content; `consumed` counts the padding behind it as well.
  Bytes next(Bytes input, std::size_t& consumed) noexcept {
    const Bytes piece = input.substr(0, left_);
    left_ -= static_cast<std::uint32_t>(piece.size());
    const std::size_t padding = std::min<std::size_t>(input.size() - piece.size(), padding_left_);
    padding_left_ = static_cast<std::uint16_t>(padding_left_ - padding);
    consumed = piece.size() + padding;
    return piece;
  }

  // Some of it is to come.
  bool is_open() const noexcept { return left_ + padding_left_ != 0; }
  std::uint32_t left() const noexcept { return left_; }
  // Holds for the frame read last as well.
  bool ends_stream() const noexcept { return ends_stream_; }

 private:
  std::uint32_t left_ = 0;
  std::uint16_t padding_left_ = 0;
  bool ends_stream_ = false;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
