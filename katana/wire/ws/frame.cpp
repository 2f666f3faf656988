#include "katana/wire/ws/frame.hpp"

#include <bit>
#include <cstring>

namespace katana::ws {
namespace {

std::uint64_t read_big_endian(const char* from, std::size_t count) noexcept {
  std::uint64_t value = 0;
  for (std::size_t at = 0; at < count; ++at) {
    value = value << 8 | static_cast<std::uint8_t>(from[at]);
  }
  return value;
}

void write_big_endian(char* to, std::uint64_t value, std::size_t count) noexcept {
  for (std::size_t at = 0; at < count; ++at) {
    to[at] = static_cast<char>(value >> ((count - 1 - at) * 8));
  }
}

bool is_known(std::uint8_t opcode) noexcept { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

// Judges a frame by its first two bytes alone.
Refusal judge(const Frame& frame, std::uint8_t first, std::uint8_t length, bool masks,
              bool may_compress) noexcept {
  if ((first & 0x30) != 0) return Refusal::reserved_bits;
  if (!is_known(first & 15)) return Refusal::unknown_opcode;
  // A message is compressed as a whole, and its first frame has the bit (RFC 7692 §6.1).
  if (frame.compressed &&
      (!may_compress || (frame.opcode != Opcode::text && frame.opcode != Opcode::binary))) {
    return Refusal::reserved_bits;
  }
  if (frame.masked != masks) return masks ? Refusal::not_masked : Refusal::masked;
  if (is_control(frame.opcode)) {
    if (!frame.last) return Refusal::control_fragmented;
    if (length > control_bytes_max) return Refusal::control_too_long;
  }
  return Refusal::none;
}

}  // namespace

Frame read_frame(Bytes input, bool masks, bool may_compress) noexcept {
  Frame frame;
  if (input.size() < 2) return frame;
  const auto first = static_cast<std::uint8_t>(input[0]);
  const auto second = static_cast<std::uint8_t>(input[1]);
  frame.opcode = static_cast<Opcode>(first & 15);
  frame.last = (first & 0x80) != 0;
  frame.compressed = (first & 0x40) != 0;
  frame.masked = (second & 0x80) != 0;
  const std::uint8_t length = second & 0x7f;
  frame.refusal = judge(frame, first, length, masks, may_compress);
  if (frame.refusal != Refusal::none) return frame;
  const std::size_t extra = length < 126 ? 0 : length == 126 ? 2 : 8;
  const std::size_t before_mask = 2 + extra;
  if (input.size() < before_mask) return frame;
  frame.length = extra == 0 ? length : read_big_endian(input.data() + 2, extra);
  if (extra != 0 && frame.length < (extra == 2 ? 126u : 65536u)) {
    frame.refusal = Refusal::length_not_minimal;
  }
  if (frame.length > INT64_MAX) frame.refusal = Refusal::length_beyond_63_bits;
  if (frame.refusal != Refusal::none) return frame;
  if (frame.masked) {
    if (input.size() < before_mask + 4) return frame;
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(&frame.mask, input.data() + before_mask, 4);
  }
  frame.header_bytes = before_mask + (frame.masked ? 4 : 0);
  return frame;
}

char* write_header(char* to, Opcode opcode, bool last, bool compressed, std::uint64_t length,
                   bool masked, std::uint32_t mask) noexcept {
  to[0] = static_cast<char>((last ? 0x80u : 0u) | (compressed ? 0x40u : 0u) |
                            static_cast<unsigned>(opcode));
  const unsigned mask_bit = masked ? 0x80 : 0;
  if (length < 126) {
    to[1] = static_cast<char>(mask_bit | static_cast<unsigned>(length));
    to += 2;
  } else {
    const std::size_t extra = length < 65536 ? 2 : 8;
    to[1] = static_cast<char>(mask_bit | (extra == 2 ? 126u : 127u));
    write_big_endian(to + 2, length, extra);
    to += 2 + extra;
  }
  if (!masked) return to;
  std::memcpy(to, &mask, 4);
  return to + 4;
}

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
