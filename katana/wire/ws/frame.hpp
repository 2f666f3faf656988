// Frame headers: reads and writes single headers; Machine judges their sequence.
//
//    0               1               2 …
//   |F|R R R|opcode | |M|length (7)  | 0, 2 or 8 bytes of length | 0 or 4 bytes of mask | payload
//
// Thread     any.
// Allocates  never.
// Source     RFC 6455 §5.2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/ws/refusal.hpp"

namespace katana::ws {

// Kinds of frames (RFC 6455 §11.8).
enum class Opcode : std::uint8_t {
  continuation = 0,  // more of a message that is not complete
  text = 1,          // begins a message of UTF-8
  binary = 2,        // begins a message of any bytes
  close = 8,         // §5.5.1
  ping = 9,          // §5.5.2
  pong = 10,         // §5.5.3
};

// Close, ping and pong: not fragmented, at most control_bytes_max.
constexpr bool is_control(Opcode opcode) noexcept {
  return (static_cast<std::uint8_t>(opcode) & 8) != 0;
}

inline constexpr std::size_t control_bytes_max = 125;  // RFC 6455 §5.5
// Two bytes, a length of eight, a mask.
inline constexpr std::size_t header_bytes_max = 14;

// A frame header as it was read.
struct Frame {
  Opcode opcode = Opcode::continuation;  // reserved ones are refused
  bool last = false;                     // FIN
  bool compressed = false;               // RSV1
  bool masked = false;                   // always from a client
  std::uint32_t mask = 0;                // little-endian: its low byte is the first
  std::uint64_t length = 0;              // of the payload, in bytes
  std::size_t header_bytes = 0;          // 0: more bytes are needed
  Refusal refusal = Refusal::none;       // none: the header is valid, or not complete
};

// Judges as soon as the bytes that are wrong are here. `masks`: the sender has to mask.
// `may_compress`: RSV1 has a meaning.
Frame read_frame(Bytes input, bool masks, bool may_compress) noexcept;

// Bytes of the header of a frame with so much payload.
constexpr std::size_t header_bytes(std::uint64_t length, bool masked) noexcept {
  return (length < 126 ? 2u : length < 65536 ? 4u : 10u) + (masked ? 4u : 0u);
}
// Writes header_bytes() bytes and returns their end.
char* write_header(char* to, Opcode opcode, bool last, bool compressed, std::uint64_t length,
                   bool masked, std::uint32_t mask) noexcept;

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
