// States of the server side of a chat connection, and every transition between them.
//
// Machine moves only by this table. machine_test compares docs/diagrams/chat.md with it, and draws
// the diagram anew when KATANA_UPDATE is set.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::chat {

enum class State : std::uint8_t {
  idle,      // between lines
  line,      // part of a line has arrived
  skipping,  // a line is too long, and was answered; the rest of it is read past
  closed,    // nothing more is read
};

enum class Cause : std::uint8_t {
  line_begins,
  line_ends,
  too_long,
  quit,
  end,  // the client ended, or was silent for too long
};

struct Transition {
  State from;
  Cause cause;
  State to;
};

inline constexpr std::array<Bytes, 4> state_names = {"idle", "line", "skipping", "closed"};
inline constexpr std::array<Bytes, 5> cause_names = {"first byte of a line", "line complete",
                                                     "line too long", "/quit",
                                                     "end of input or idle timeout"};

inline constexpr std::array<Transition, 10> transitions = {{
    {State::idle, Cause::line_begins, State::line},
    {State::idle, Cause::too_long, State::skipping},
    {State::idle, Cause::quit, State::closed},
    {State::idle, Cause::end, State::closed},
    {State::line, Cause::line_ends, State::idle},
    {State::line, Cause::too_long, State::skipping},
    {State::line, Cause::quit, State::closed},
    {State::line, Cause::end, State::closed},
    {State::skipping, Cause::line_ends, State::idle},
    {State::skipping, Cause::end, State::closed},
}};

// The state after `cause`; the same state means that the table has no such transition: a line that
// comes whole leads from idle to idle.
constexpr State state_after(State from, Cause cause) noexcept {
  for (const Transition& each : transitions) {
    if (each.from == from && each.cause == cause) return each.to;
  }
  return from;
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
