// Frame: the header of an HTTP/2 frame, and the numbers that frames carry (RFC 9113 §4, §6, §7).
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

// The first bytes that a client sends (RFC 9113 §3.4).
inline constexpr Bytes client_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

inline constexpr std::size_t frame_header_bytes = 9;       // RFC 9113 §4.1
inline constexpr std::uint32_t stream_id_max = INT32_MAX;  // 31 bits

// Types of frames (RFC 9113 §6).
enum class FrameType : std::uint8_t {
  data = 0,              // §6.1
  headers = 1,           // §6.2
  priority = 2,          // §6.3; deprecated
  rst_stream = 3,        // §6.4
  settings = 4,          // §6.5
  push_promise = 5,      // §6.6; a client forbids it
  ping = 6,              // §6.7
  goaway = 7,            // §6.8
  window_update = 8,     // §6.9
  continuation = 9,      // §6.10
  priority_update = 16,  // RFC 9218 §7.1
};

// Flags of frames. A number has a meaning for some types only.
enum Flag : std::uint8_t {
  flag_end_stream = 0x1,   // DATA, HEADERS: nothing follows on the stream
  flag_ack = 0x1,          // SETTINGS, PING: the answer to one
  flag_end_headers = 0x4,  // HEADERS, CONTINUATION: the block is complete
  flag_padded = 0x8,       // DATA, HEADERS: a length of padding comes first
  flag_priority = 0x20,    // HEADERS: five bytes of priority come first
};

// Why a stream or a connection ends (RFC 9113 §7).
enum class ErrorCode : std::uint32_t {
  no_error = 0,              // a graceful end
  protocol_error = 1,        // a rule was broken that has no specific code
  internal_error = 2,        // a failure that is not the other side's
  flow_control_error = 3,    // a window was exceeded
  settings_timeout = 4,      // SETTINGS were not acknowledged in time
  stream_closed = 5,         // a frame for a stream that had ended
  frame_size_error = 6,      // a frame of a wrong size
  refused_stream = 7,        // nothing was done about the request
  cancel = 8,                // the stream is not wanted any more
  compression_error = 9,     // the header compression cannot go on
  connect_error = 10,        // the connection of a CONNECT broke
  enhance_your_calm = 11,    // too much work was caused
  inadequate_security = 12,  // TLS is not good enough
  http_1_1_required = 13,    // use HTTP/1.1 for this request
};

// Names of the error codes in RFC 9113 §7.
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
// The name of a code, for logs and reasons.
constexpr Bytes name_of(ErrorCode code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return index < error_code_names.size() ? error_code_names[index] : Bytes("an unknown code");
}

// Identifiers of SETTINGS (RFC 9113 §6.5.2).
enum class Setting : std::uint16_t {
  header_table_size = 1,        // bytes of the other side's compression table
  enable_push = 2,              // 0: no pushes
  max_concurrent_streams = 3,   // that the receiver may begin
  initial_window_size = 4,      // of new streams, in bytes
  max_frame_size = 5,           // of a payload, in bytes
  max_header_list_size = 6,     // of a head that is accepted
  enable_connect_protocol = 8,  // RFC 8441 §3
  no_rfc7540_priorities = 9,    // RFC 9218 §2.1
};

// Those of clients are odd (RFC 9113 §5.1.1).
constexpr bool is_client_stream(std::uint32_t id) noexcept { return (id & 1) != 0; }

// The nine bytes in front of each payload.
struct FrameHeader {
  std::uint32_t size = 0;            // of the payload
  FrameType type = FrameType::data;  // unknown types are skipped
  std::uint8_t flags = 0;            // see Flag
  std::uint32_t stream = 0;          // 0: the connection

  bool has(Flag flag) const noexcept { return (flags & flag) != 0; }  // whether the flag is set
};

// A number in network order.
inline std::uint32_t parse_number(const char* at, std::size_t bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t index = 0; index < bytes; ++index) {
    value = value << 8 | static_cast<unsigned char>(at[index]);
  }
  return value;
}

// Writes a number in network order; returns its end.
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

// Writes frame_header_bytes; returns their end.
inline char* put_frame_header(char* to, const FrameHeader& header) noexcept {
  to = put_number(to, header.size, 3);
  *to++ = static_cast<char>(header.type);
  *to++ = static_cast<char>(header.flags);
  return put_number(to, header.stream, 4);
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
