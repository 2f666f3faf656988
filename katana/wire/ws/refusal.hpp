// Refusal: why a connection is failed, with the code and the reason for the close frame.
//
// Every refusal is the other side's doing, but for `busy`. The connection does not go on: after a
// frame that means nothing, where the next begins cannot be known (RFC 6455 §7.1.7).
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/ws/limits.hpp"

namespace katana::ws {

// A code that a close frame may carry (§7.4.2).
constexpr bool may_be_sent(std::uint16_t code) noexcept {
  if (code < 1000 || code > 4999) return false;
  return code >= 3000 || code <= 1003 || (code >= 1007 && code <= 1014);
}

// Why a connection is failed. refusal_texts has code, label and sentence of each.
enum class Refusal : std::uint8_t {
  none,  // it goes on
  reserved_bits,
  unknown_opcode,
  not_masked,
  masked,
  length_not_minimal,
  length_beyond_63_bits,
  control_fragmented,
  control_too_long,
  unexpected_continuation,
  unfinished_message,
  bad_close_code,
  half_a_close_code,
  not_utf8,
  bad_compression,
  too_many_blocks,
  frame_too_big,
  message_too_big,
  too_many_fragments,
  message_too_slow,
  count_,
};

// The code and the texts of a Refusal.
struct RefusalText {
  CloseCode code;  // of the close frame
  Bytes name;      // label of the metric
  Bytes sentence;  // at most 123 bytes: the room of a close frame behind its code
};

// Code, label and sentence by Refusal.
inline constexpr std::array<RefusalText, static_cast<std::size_t>(Refusal::count_)> refusal_texts =
    {{
        {CloseCode::normal, "none", ""},
        {CloseCode::protocol_error, "reserved_bits",
         "A reserved bit is set and no extension gives it a meaning."},
        {CloseCode::protocol_error, "unknown_opcode", "The opcode is a reserved one."},
        {CloseCode::protocol_error, "not_masked", "A frame of a client has to be masked."},
        {CloseCode::protocol_error, "masked", "A frame of a server may not be masked."},
        {CloseCode::protocol_error, "length_not_minimal",
         "The length is not in the shortest form."},
        {CloseCode::protocol_error, "length_beyond_63_bits",
         "The most significant bit of the length is set."},
        {CloseCode::protocol_error, "control_fragmented", "A control frame is in fragments."},
        {CloseCode::protocol_error, "control_too_long", "A control frame has more than 125 bytes."},
        {CloseCode::protocol_error, "unexpected_continuation",
         "A continuation without a message that it goes on with."},
        {CloseCode::protocol_error, "unfinished_message",
         "A message begins before the last one is complete."},
        {CloseCode::protocol_error, "bad_close_code",
         "The code of the close frame is one that may not be sent."},
        {CloseCode::protocol_error, "half_a_close_code", "The close frame has half of a code."},
        {CloseCode::not_consistent, "not_utf8", "The text is not UTF-8."},
        {CloseCode::not_consistent, "bad_compression", "The message cannot be decompressed."},
        {CloseCode::policy, "too_many_blocks",
         "The message is compressed in more blocks than are accepted here."},
        {CloseCode::too_big, "frame_too_big", "The frame is larger than is accepted here."},
        {CloseCode::too_big, "message_too_big", "The message is larger than is accepted here."},
        {CloseCode::too_big, "too_many_fragments",
         "The message has more fragments than are accepted here."},
        {CloseCode::policy, "message_too_slow", "The message was not complete in time."},
    }};

// Lives as long as the program.
constexpr const RefusalText& text_of(Refusal refusal) noexcept {
  return refusal_texts[static_cast<std::size_t>(refusal)];
}

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
