// Machine: the server side of one chat connection, as a function of bytes and time.
//
// A line is text and "\n"; one "\r" before that is not part of it. It is UTF-8 without control
// characters, and has at most Limits::line_bytes_max bytes.
//
//   line               event
//   text               message(text)
//   //text             message(/text)
//   (empty)            empty: a sign of life, and nothing else
//   /join ROOM         join(ROOM)
//   /leave             leave
//   /who [ROOM]        who(ROOM), who() without one
//   /nick NAME         nick(NAME)
//   /quit              quit; the connection is over
//
// Owns       a few words of state. No bytes: what next() does not consume stays with the caller.
// Borrows    the Limits, which every machine of a reactor shares.
// Thread     its reactor's.
// Allocates  never.
// Fails      a line that is not acceptable is Event::refused, once, and is read past to its end.
// Invariant  the events are a function of the bytes, however they are cut. A line is reported when
//            all of it is there, or when it is too long.
//
// The caller pulls: next() gives at most one event and says how much input it used. States and
// transitions stand in states.hpp.
#pragma once

#include <cstdint>

#include "apps/chat/wire/limits.hpp"
#include "apps/chat/wire/refusal.hpp"
#include "apps/chat/wire/states.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::chat {

enum class Event : std::uint8_t {
  need_bytes,  // nothing to report until more bytes come
  message,
  empty,
  join,
  leave,
  who,
  nick,
  quit,
  refused,    // see Step::refusal
  ping_due,   // the client is to be asked whether it is still there
  timed_out,  // it did not answer: the connection is over
  closed,     // the connection is over
};

struct Step {
  Event event = Event::need_bytes;
  Refusal refusal = Refusal::none;
  std::size_t consumed = 0;
  Bytes text = {};  // the message, or the argument; borrowed from the input
};

class Machine {
 public:
  Machine(const Limits& limits, Instant now) noexcept : limits_(&limits) { note_line(now); }

  // REQUIRES `input` to begin with the bytes that the last call did not consume. May be empty.
  Step next(Bytes input, Instant now) noexcept;
  State state() const noexcept { return state_; }

  // The client sends no more. A line without an end is none. REQUIRED when next() has been given
  // the last input and needs bytes.
  void end_of_input() noexcept;

  // ---- time ----
  // When on_deadline() has something to do.
  Instant deadline() const noexcept { return deadline_; }
  // next() then says what.
  void on_deadline(Instant now) noexcept;
  // The client could not send because we did not read: its time begins anew.
  void restart_deadline(Instant now) noexcept { note_line(now); }

 private:
  void go(Cause cause) noexcept { state_ = state_after(state_, cause); }
  Step next_line(Bytes input, Instant now) noexcept;
  Step skip(Bytes input, Instant now) noexcept;
  Step read_line(Bytes line, std::size_t consumed) noexcept;
  void note_line(Instant now) noexcept;

  const Limits* limits_;
  Instant deadline_ = never;
  Instant ends_at_ = never;     // if no line comes by then
  std::uint32_t searched_ = 0;  // the first so many unconsumed bytes have no line end
  State state_ = State::idle;
  bool pinged_ = false;
  bool ping_due_ = false;
  bool timed_out_ = false;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
