// HeaderBlock: a header block that comes in several frames, HEADERS and its CONTINUATIONs
// (RFC 9113 §4.3, §6.10).
//
// Owns       the fragments, until they are taken.
// Thread     its machine's.
// Allocates  recycled memory, for a block in several frames only.
// Fails      add() says so: more frames or bytes than a block may have (CVE-2024-27316).
// Invariant  while it is open, no other frame may come.
#pragma once

#include <cstdint>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/wire/http2/failure.hpp"
#include "katana/wire/http2/frame.hpp"
#include "katana/wire/http2/limits.hpp"

namespace katana::http2 {

class HeaderBlock {
 public:
  // A block has begun, and END_HEADERS has not come.
  bool is_open() const noexcept { return is_open_; }
  std::uint32_t stream() const noexcept { return stream_; }   // of the open block
  bool ends_stream() const noexcept { return ends_stream_; }  // the HEADERS had END_STREAM
  // false: the frame breaks the block, PROTOCOL_ERROR.
  bool permits(const FrameHeader& header) const noexcept {
    return !is_open_ || (header.type == FrameType::continuation && header.stream == stream_);
  }

  void begin(const FrameHeader& header, Bytes fragment) {
    is_open_ = true;
    stream_ = header.stream;
    ends_stream_ = header.has(flag_end_stream);
    continuations_ = 0;
    fragments_.append(fragment);
  }

  // A CONTINUATION. none: the block goes on or is complete.
  Failure add(const FrameHeader& header, Bytes fragment, const Limits& limits) {
    if (!is_open_) return Failure::bad_frame;
    if (++continuations_ > limits.continuations_max ||
        fragments_.size() + fragment.size() > limits.block_bytes_max) {
      return Failure::continuation_flood;
    }
    fragments_.append(fragment);
    if (header.has(flag_end_headers)) is_open_ = false;
    return Failure::none;
  }

  // REQUIRES that it was added to and is not open any more.
  Text take() noexcept { return std::exchange(fragments_, Text()); }

 private:
  Text fragments_;
  std::uint32_t stream_ = 0;
  std::uint16_t continuations_ = 0;
  bool is_open_ = false;
  bool ends_stream_ = false;
};

// Takes the padding of a frame away (RFC 9113 §6.1).
inline Failure strip_padding(const FrameHeader& header, Bytes& payload) noexcept {
  if (!header.has(flag_padded)) return Failure::none;
  if (payload.empty()) return Failure::bad_frame;
  const std::size_t padding = static_cast<unsigned char>(payload[0]);
  payload.remove_prefix(1);
  if (padding > payload.size()) return Failure::bad_frame;
  payload.remove_suffix(padding);
  return Failure::none;
}

// Leaves of the payload of HEADERS the fragment of its block.
inline Failure strip_headers(const FrameHeader& header, Bytes& payload) noexcept {
  const Failure failure = strip_padding(header, payload);
  if (failure != Failure::none || !header.has(flag_priority)) return failure;
  if (payload.size() < 5) return Failure::bad_frame_size;
  // RFC 9113 §5.3.2: that order of priorities is no more, but its rules of form are.
  const std::uint32_t parent = parse_number(payload.data(), 4) & stream_id_max;
  if (parent == header.stream) return Failure::bad_frame;
  payload.remove_prefix(5);
  return Failure::none;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
