// Machine: the client side of one NATS connection, as a function of bytes.
//
//   the server sends                                   event
//   INFO {…}                                           info(json)
//   MSG subject sid [reply-to] size                    message(subject, sid, reply_to, 0, size)
//   HMSG subject sid [reply-to] header-size size       message(subject, sid, reply_to, h, size)
//     the bytes of a message, in pieces                piece(bytes), the last with is_last
//   PING, PONG, +OK                                    ping, pong, ok
//   -ERR 'text'                                        error(text)
//   anything else                                      refused, and nothing more
//
// A message's bytes are its headers and its payload. They are reported as they come: only a part of
// a line is ever left with the caller. A message without bytes has one empty piece.
//
// Owns       a few words of state.
// Borrows    nothing after a call: an Event's views are of the input of that call.
// Thread     one at a time.
// Allocates  never.
// Fails      refused, with a reason; the machine stays there.
// Invariant  however the bytes are cut, the events are the same, but for where pieces are cut.
// Source     docs.nats.io/reference/reference-protocols/nats-protocol (2.9)
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/nats/limits.hpp"
#include "katana/wire/nats/refusal.hpp"

namespace katana::nats {

// The finding of a step, and the answer that it expects of the caller.
enum class Event : std::uint8_t {
  need_bytes,  // call again with more input behind the bytes that were not consumed
  info,        // first on a connection, and again when the cluster changes
  message,     // its pieces follow, at least one
  piece,       // bytes of the message before; headers come first
  ping,        // answer with pong_line, or the server ends the connection
  pong,        // all that was written before our PING has been processed
  ok,          // of verbose connections alone; may be ignored
  error,       // most are followed by the end of the connection
  refused,     // see refusal(); close the connection
};

// The line of MSG or HMSG; its texts are views of the input.
struct MessageHead {
  Bytes subject;                   // not checked, but for controls
  Bytes reply_to;                  // empty: the line has none
  std::uint64_t subscription = 0;  // its sid
  std::uint32_t header_size = 0;   // bytes in front of the payload; 0: MSG, without headers
  std::uint32_t size = 0;          // with the headers
};

// Result of Machine::next().
struct Step {
  Event event = Event::need_bytes;  // at most one for each call
  std::size_t consumed = 0;         // bytes of the input; may be more than 0 with need_bytes
  Bytes text = {};                  // of info, piece and error
  MessageHead head = {};            // of message
  bool is_last = false;             // of piece
};

class Machine {
 public:
  explicit Machine(const Limits& limits = {}) noexcept : limits_(limits) {}

  // At most one event. Unconsumed bytes are to come again, in front of the following ones.
  Step next(Bytes input) noexcept;
  Refusal refusal() const noexcept { return refusal_; }
  // A message is not complete.
  bool in_message() const noexcept { return state_ != State::line; }

 private:
  enum class State : std::uint8_t { line, content, content_end, refused };

  Step next_line(Bytes input) noexcept;
  Step next_content(Bytes input) noexcept;
  Step next_content_end(Bytes input) noexcept;
  Step read_line(Bytes line, std::size_t consumed) noexcept;
  Step read_head(Bytes arguments, bool has_headers, std::size_t consumed) noexcept;
  Step refuse(Refusal refusal) noexcept;

  const Limits limits_;
  State state_ = State::line;
  Refusal refusal_ = Refusal::none;
  bool is_empty_ = false;     // the message whose content comes has no bytes
  std::uint32_t left_ = 0;    // bytes of the message
  std::size_t searched_ = 0;  // of the input, without a line end
};

}  // namespace katana::nats

// SPDX-License-Identifier: Apache-2.0
