#include "katana/wire/http2/frame_output.hpp"

#include <array>

namespace katana::http2 {

bool put_goaway(std::uint32_t last, ErrorCode code, Bytes detail, Outbox& outbox) noexcept {
  std::array<char, 128> payload;
  char* const text =
      put_number(put_number(payload.data(), last, 4), static_cast<std::uint32_t>(code), 4);
  detail = detail.substr(0, payload.size() - 8);
  if (!detail.empty()) std::memcpy(text, detail.data(), detail.size());
  const auto size = static_cast<std::uint32_t>(8 + detail.size());
  return put({size, FrameType::goaway, 0, 0}, {payload.data(), size}, outbox);
}

bool put_window(std::uint32_t stream, std::uint32_t bytes, Outbox& outbox) noexcept {
  std::array<char, 4> payload;
  put_number(payload.data(), bytes, 4);
  return put({4, FrameType::window_update, 0, stream}, {payload.data(), payload.size()}, outbox);
}

bool put_reset(std::uint32_t stream, ErrorCode code, Outbox& outbox) noexcept {
  std::array<char, 4> payload;
  put_number(payload.data(), static_cast<std::uint32_t>(code), 4);
  return put({4, FrameType::rst_stream, 0, stream}, {payload.data(), payload.size()}, outbox);
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
