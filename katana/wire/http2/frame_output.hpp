// Frames into an outbox, as either side of a connection sends them.
//
// Owns       nothing.
// Borrows    its arguments, for the call.
// Thread     the outbox's.
// Allocates  never.
// Fails      false when the outbox has no room; nothing of the frame is then written.
// Invariant  frames are whole.
#pragma once

#include <cstdint>
#include <cstring>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/wire/http2/frame.hpp"

namespace katana::http2 {

// Any frame; for short payloads, which are copied.
inline bool put(const FrameHeader& header, Bytes payload, Outbox& outbox) noexcept {
  char* const begin = outbox.reserve(frame_header_bytes + payload.size());
  if (begin == nullptr) return false;
  char* const to = put_frame_header(begin, header);
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
  outbox.commit(frame_header_bytes + payload.size());
  return true;
}

// RFC 9113 §6.8. `last`: the highest stream that was processed; `detail` is debug data.
bool put_goaway(std::uint32_t last, ErrorCode code, Bytes detail, Outbox& outbox) noexcept;
// RFC 9113 §6.9. Stream 0: the connection's window.
bool put_window(std::uint32_t stream, std::uint32_t bytes, Outbox& outbox) noexcept;
// RFC 9113 §6.4.
bool put_reset(std::uint32_t stream, ErrorCode code, Outbox& outbox) noexcept;

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
