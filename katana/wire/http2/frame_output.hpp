// Frames into an outbox, as either side of a connection sends them.
//
// Owns       nothing.
// Borrows    what it is given, for the call; content that stays until it is sent.
// Thread     the outbox's.
// Allocates  never.
// Fails      false when the outbox has no room; nothing of the frame is then written.
// Invariant  frames are whole, and no more content is sent than both windows take.
#pragma once

#include <cstdint>
#include <cstring>

#include "katana/base/bytes.hpp"
#include "katana/base/outbox.hpp"
#include "katana/wire/http2/frame.hpp"

namespace katana::http2 {

// Shorter content is copied behind its frame's header; referring to it would cost more.
inline constexpr std::size_t copied_bytes_max = 1024;

inline bool put(const FrameHeader& header, Bytes payload, Outbox& outbox) noexcept {
  char* const begin = outbox.reserve(frame_header_bytes + payload.size());
  if (begin == nullptr) return false;
  char* const to = put_frame_header(begin, header);
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
  outbox.commit(frame_header_bytes + payload.size());
  return true;
}

bool put_goaway(std::uint32_t last, ErrorCode code, Bytes detail, Outbox& outbox) noexcept;
bool put_window(std::uint32_t stream, std::uint32_t bytes, Outbox& outbox) noexcept;
bool put_reset(std::uint32_t stream, ErrorCode code, Outbox& outbox) noexcept;

struct DataOutput {
  bool has_capacity = true;
  bool ends = false;  // END_STREAM was sent
  std::uint32_t frames = 0;
};

// Takes from `content` what the windows and `output_max` allow, which may be nothing, in frames.
// `last`: END_STREAM stands on the frame that empties it.
DataOutput put_data(std::uint32_t stream, Bytes& content, bool content_stays, bool last,
                    std::size_t output_max, std::int64_t& stream_window,
                    std::int64_t& connection_window, Outbox& outbox) noexcept;

// `bytes` more of a window of `window_bytes` were consumed: gives back what was, once it is half of
// the window, so that one WINDOW_UPDATE serves many frames.
bool give_back(std::uint32_t stream, std::size_t bytes, std::uint32_t window_bytes,
               std::uint32_t& unreturned, std::int64_t& window, Outbox& outbox) noexcept;

}  // namespace katana::http2
