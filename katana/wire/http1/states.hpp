// States of the server side of an HTTP/1.1 connection, and every transition between them.
//
// Machine moves by this table and by nothing else. machine_test draws docs/diagrams/http1.md from
// it and compares the two. It draws the diagram anew when KATANA_UPDATE is set.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::http1 {

// Where a connection stands between two calls.
enum class State : std::uint8_t {
  idle,     // between requests
  head,     // part of a head has arrived
  content,  // the head is complete, its content is not
  reply,    // the request is complete, its reply is not; requests pipelined behind it wait
  discard,  // the reply is complete, unwanted content is read past
  refused,  // the request was refused; the reply that says so is the last
  closed,   // nothing more is read
};

// The causes of a transition from one state to the next.
enum class Cause : std::uint8_t {
  head_begins,       // the first byte of a request
  request_ends,      // the head of a request without content, or the last of its content
  content_begins,    // the head is complete, and a body follows
  reply_ends,        // the last byte of the reply was written
  reply_ends_early,  // before the content did, and little of that is left
  reply_ends_last,   // and the connection ends with it
  discarded,         // the rest of a body that nothing wanted was read
  refusal,           // see refusal.hpp
  end,               // the client ended between requests, or was idle for too long
};

// One allowed move.
struct Transition {
  // `cause` in state `from` leads to state `to`.
  State from;
  Cause cause;
  State to;
};

// Names by State, for the diagram.
inline constexpr std::array<Bytes, 7> state_names = {"idle",    "head",    "content", "reply",
                                                     "discard", "refused", "closed"};
// Names by Cause, for the diagram.
inline constexpr std::array<Bytes, 9> cause_names = {"first byte of a head",
                                                     "request complete",
                                                     "head complete, content follows",
                                                     "reply complete",
                                                     "reply complete before content",
                                                     "last reply complete",
                                                     "content read past",
                                                     "refusal",
                                                     "end of input or idle timeout"};

// Every allowed move.
inline constexpr std::array<Transition, 18> transitions = {{
    {State::idle, Cause::head_begins, State::head},
    {State::idle, Cause::request_ends, State::reply},
    {State::idle, Cause::content_begins, State::content},
    {State::idle, Cause::refusal, State::refused},
    {State::idle, Cause::end, State::closed},
    {State::head, Cause::request_ends, State::reply},
    {State::head, Cause::content_begins, State::content},
    {State::head, Cause::refusal, State::refused},
    {State::content, Cause::request_ends, State::reply},
    {State::content, Cause::reply_ends_early, State::discard},
    {State::content, Cause::reply_ends_last, State::closed},
    {State::content, Cause::refusal, State::refused},
    {State::reply, Cause::reply_ends, State::idle},
    {State::reply, Cause::reply_ends_last, State::closed},
    {State::discard, Cause::discarded, State::idle},
    {State::discard, Cause::refusal, State::closed},  // its reply is complete already
    {State::discard, Cause::end, State::closed},
    {State::refused, Cause::reply_ends_last, State::closed},
}};

// The state after `cause`; the same state means that the table has no such transition.
constexpr State state_after(State from, Cause cause) noexcept {
  for (const Transition& each : transitions) {
    if (each.from == from && each.cause == cause) return each.to;
  }
  return from;
}

namespace detail {
constexpr auto make_state_matrix() {
  std::array<std::array<State, cause_names.size()>, state_names.size()> matrix{};
  for (std::size_t from = 0; from < state_names.size(); ++from) {
    for (std::size_t cause = 0; cause < cause_names.size(); ++cause) {
      matrix[from][cause] = state_after(static_cast<State>(from), static_cast<Cause>(cause));
    }
  }
  return matrix;
}
inline constexpr auto state_matrix = make_state_matrix();
}  // namespace detail

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
