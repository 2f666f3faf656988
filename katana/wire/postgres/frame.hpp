// read_frame: finds a message of a server in the received bytes, and bounds it before it is there.
//
//   type       1 byte, see Reply
//   length     4 bytes, of itself and the body
//   body       its form depends on the type: messages.hpp
//
// Borrows    the input; a Frame's body is a view of it.
// Thread     any.
// Allocates  never.
// Fails      with a Refusal: the type is unknown, or the length is not one of its type.
// Invariant  no frame and no demand for bytes is larger than the limits' bytes_max().
// Source     PostgreSQL 18, "Message Formats"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/postgres/limits.hpp"
#include "katana/wire/postgres/refusal.hpp"

namespace katana::postgres {

// The messages of a server. CopyBothResponse (replication) and FunctionCallResponse (obsolete)
// answer requests that this client does not make: they count as unknown.
enum class Reply : std::uint8_t {
  authentication,         // R
  backend_key,            // K
  bind_complete,          // 2
  close_complete,         // 3
  command_complete,       // C
  copy_data,              // d
  copy_done,              // c
  copy_in,                // G
  copy_out,               // H
  data_row,               // D
  empty_query,            // I
  error,                  // E
  negotiate_version,      // v
  no_data,                // n
  notice,                 // N
  notification,           // A
  parameter_description,  // t
  parameter_status,       // S
  parse_complete,         // 1
  portal_suspended,       // s
  ready,                  // Z
  row_description,        // T
  count_,                 // how many there are; no message
};

// The number of replies, for tables.
inline constexpr std::size_t reply_count = static_cast<std::size_t>(Reply::count_);
// The first byte of each, by Reply.
inline constexpr Bytes reply_bytes = "RK23CdcGHDIEvnNAtS1sZT";
// Their names in PostgreSQL's documentation, by Reply.
inline constexpr std::array<Bytes, reply_count> reply_names = {"Authentication",
                                                               "BackendKeyData",
                                                               "BindComplete",
                                                               "CloseComplete",
                                                               "CommandComplete",
                                                               "CopyData",
                                                               "CopyDone",
                                                               "CopyInResponse",
                                                               "CopyOutResponse",
                                                               "DataRow",
                                                               "EmptyQueryResponse",
                                                               "ErrorResponse",
                                                               "NegotiateProtocolVersion",
                                                               "NoData",
                                                               "NoticeResponse",
                                                               "NotificationResponse",
                                                               "ParameterDescription",
                                                               "ParameterStatus",
                                                               "ParseComplete",
                                                               "PortalSuspended",
                                                               "ReadyForQuery",
                                                               "RowDescription"};

// The result of read_frame().
struct Frame {
  Reply type = Reply::count_;       // count_: no whole message is there, or it is refused
  Refusal refusal = Refusal::none;  // none: the bytes are fine as far as they are there
  std::size_t size = 0;             // of the message with its header; without one: the least
                                    // size that the input needs for a next step
  Bytes body = {};                  // without the header
};

// Reads the message at the front of the input.
Frame read_frame(Bytes input, const Limits& limits) noexcept;

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
