// States of one side of a WebSocket connection, and every transition between them.
//
// Machine moves by this table and by nothing else. machine_test draws docs/diagrams/websocket.md
// from it and compares the two. It draws the diagram anew when KATANA_UPDATE is set.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::ws {

// Where a connection stands.
enum class State : std::uint8_t {
  open,       // between messages
  message,    // part of a message has arrived
  answering,  // the other side's close frame has come; ours is due
  refused,    // the other side broke a rule; the close frame that says so is due
  closing,    // our close frame is sent; frames before the other side's are dropped
  closed,     // nothing more is read
};

// The causes of a transition from one state to the next.
enum class Cause : std::uint8_t {
  message_begins,  // the first piece of a message
  message_ends,    // the last piece of a message
  peer_closes,     // a close frame has come
  we_close,        // a close frame was sent
  refusal,         // a rule was broken
  end,             // of the input, or of the other side's time
};

// One allowed move.
struct Transition {
  // `cause` in state `from` leads to state `to`.
  State from;
  Cause cause;
  State to;
};

// Names by State, for the diagram.
inline constexpr std::array<Bytes, 6> state_names = {"open",    "message", "answering",
                                                     "refused", "closing", "closed"};
// Names by Cause, for the diagram.
inline constexpr std::array<Bytes, 6> cause_names = {
    "part of a message", "message complete", "close frame of the other side",
    "our close frame",   "refusal",          "end of input, or of time"};

// Every allowed move.
inline constexpr std::array<Transition, 17> transitions = {{
    {State::open, Cause::message_begins, State::message},
    {State::open, Cause::peer_closes, State::answering},
    {State::open, Cause::we_close, State::closing},
    {State::open, Cause::refusal, State::refused},
    {State::open, Cause::end, State::closed},
    {State::message, Cause::message_ends, State::open},
    {State::message, Cause::peer_closes, State::answering},
    {State::message, Cause::we_close, State::closing},
    {State::message, Cause::refusal, State::refused},
    {State::message, Cause::end, State::closed},
    {State::answering, Cause::we_close, State::closed},
    {State::answering, Cause::end, State::closed},
    {State::refused, Cause::we_close, State::closed},
    {State::refused, Cause::end, State::closed},
    {State::closing, Cause::peer_closes, State::closed},
    {State::closing, Cause::refusal, State::closed},
    {State::closing, Cause::end, State::closed},
}};

// The state after `cause`. The same state means that the table has no such transition. For example,
// a message that comes in one piece leads from open to open.
constexpr State state_after(State from, Cause cause) noexcept {
  for (const Transition& each : transitions) {
    if (each.from == from && each.cause == cause) return each.to;
  }
  return from;
}

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
