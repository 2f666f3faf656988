// Frame: what every frame of HTTP/2 begins with, and the numbers that frames carry (RFC 9113 §4,
// §6, §7).
//
// Owns       nothing; values.
// Thread     any.
// Allocates  never.
// Invariant  put_* writes exactly what parse_* reads.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http2/limits.hpp"

namespace katana::http2 {

// What a client sends first (RFC 9113 §3.4).
inline constexpr Bytes client_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

inline constexpr std::size_t frame_header_bytes = 9;
inline constexpr std::uint32_t stream_id_max = INT32_MAX;

enum class FrameType : std::uint8_t {
  data = 0,
  headers = 1,
  priority = 2,
  rst_stream = 3,
  settings = 4,
  push_promise = 5,
  ping = 6,
  goaway = 7,
  window_update = 8,
  continuation = 9,
  priority_update = 16,  // RFC 9218 §7.1
};

enum Flag : std::uint8_t {
  flag_end_stream = 0x1,
  flag_ack = 0x1,
  flag_end_headers = 0x4,
  flag_padded = 0x8,
  flag_priority = 0x20,
};

// Why a stream or a connection ends (RFC 9113 §7).
enum class ErrorCode : std::uint32_t {
  no_error = 0,
  protocol_error = 1,
  internal_error = 2,
  flow_control_error = 3,
  settings_timeout = 4,
  stream_closed = 5,
  frame_size_error = 6,
  refused_stream = 7,
  cancel = 8,
  compression_error = 9,
  connect_error = 10,
  enhance_your_calm = 11,
  inadequate_security = 12,
  http_1_1_required = 13,
};

// As RFC 9113 §7 has them.
inline constexpr std::array<Bytes, 14> error_code_names = {"NO_ERROR",
                                                           "PROTOCOL_ERROR",
                                                           "INTERNAL_ERROR",
                                                           "FLOW_CONTROL_ERROR",
                                                           "SETTINGS_TIMEOUT",
                                                           "STREAM_CLOSED",
                                                           "FRAME_SIZE_ERROR",
                                                           "REFUSED_STREAM",
                                                           "CANCEL",
                                                           "COMPRESSION_ERROR",
                                                           "CONNECT_ERROR",
                                                           "ENHANCE_YOUR_CALM",
                                                           "INADEQUATE_SECURITY",
                                                           "HTTP_1_1_REQUIRED"};
constexpr Bytes name_of(ErrorCode code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return index < error_code_names.size() ? error_code_names[index] : Bytes("an unknown code");
}

enum class Setting : std::uint16_t {
  header_table_size = 1,
  enable_push = 2,
  max_concurrent_streams = 3,
  initial_window_size = 4,
  max_frame_size = 5,
  max_header_list_size = 6,
  enable_connect_protocol = 8,  // RFC 8441 §3
  no_rfc7540_priorities = 9,
};

// Those of clients are odd (RFC 9113 §5.1.1).
constexpr bool is_client_stream(std::uint32_t id) noexcept { return (id & 1) != 0; }

struct FrameHeader {
  std::uint32_t size = 0;  // of the payload
  FrameType type = FrameType::data;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;

  bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
};

inline std::uint32_t parse_number(const char* at, std::size_t bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t index = 0; index < bytes; ++index) {
    value = value << 8 | static_cast<unsigned char>(at[index]);
  }
  return value;
}

inline char* put_number(char* to, std::uint32_t value, std::size_t bytes) noexcept {
  for (std::size_t index = 0; index < bytes; ++index) {
    to[index] = static_cast<char>(value >> (8 * (bytes - 1 - index)));
  }
  return to + bytes;
}

// REQUIRES frame_header_bytes bytes. The reserved bit of the stream is ignored (RFC 9113 §4.1).
inline FrameHeader parse_frame_header(const char* at) noexcept {
  return {parse_number(at, 3), static_cast<FrameType>(at[3]), static_cast<std::uint8_t>(at[4]),
          parse_number(at + 5, 4) & stream_id_max};
}

inline char* put_frame_header(char* to, const FrameHeader& header) noexcept {
  to = put_number(to, header.size, 3);
  *to++ = static_cast<char>(header.type);
  *to++ = static_cast<char>(header.flags);
  return put_number(to, header.stream, 4);
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
