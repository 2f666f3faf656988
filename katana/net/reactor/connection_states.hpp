// States of the life of a connection, and every transition between them.
//
// Connection moves by this table and by nothing else; ReactorOn checks the last move before it
// gives the connection's memory back. docs/diagrams/connection.md is drawn from it by
// connection_states_test, which compares the two, draws anew when KATANA_UPDATE is set, and takes
// each transition.
//
// What is independent of it are the flags of Connection: why its session is not offered bytes, what
// the engine was asked for, what the other side has ended, which calls of the session are due.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::net {

// In this order: from finishing on the session is offered nothing more.
enum class ConnectionState : std::uint8_t {
  opening,    // its transform shakes hands; without one it is passed at once
  open,       // its session is offered what the other side sends
  finishing,  // the session has ended it; what is pending is sent
  lingering,  // our side is shut down; what the other side still sends is read and dropped
  resetting,  // a reset is due as soon as the present call has returned
  closed,     // the link is given back, the session destroyed
};

// What moves a connection from one state to the next.
enum class ConnectionCause : std::uint8_t {
  opened,       // the transform is open, or there is none
  finish,       // by the session, or because the transform failed
  reset,        // by the session
  sent,         // and everything that the other side sent was read, or it has ended its side
  sent_unread,  // closing now would reset the connection (RFC 9112 §9.6)
  linger_ends,  // the other side has ended its side, or sent too much, or the time is over
  link_lost,    // reported by the engine
  cut_off,      // by the reactor: a deadline, a limit, the end of a drain; a reset is sent
};

// One allowed move.
struct ConnectionTransition {
  // `cause` in state `from` leads to state `to`.
  ConnectionState from;
  ConnectionCause cause;
  ConnectionState to;
};

// Names by ConnectionState, for the diagram and messages.
inline constexpr std::array<Bytes, 6> connection_state_names = {
    "opening", "open", "finishing", "lingering", "resetting", "closed"};
// Names by ConnectionCause, for the diagram and messages.
inline constexpr std::array<Bytes, 8> connection_cause_names = {
    "transform open, or none needed",
    "session finishes, or transform fails",
    "session resets",
    "output sent, input read",
    "output sent, input unread",
    "end, limit or timeout of what is dropped",
    "link lost",
    "cut off"};

// Every allowed move; ReactorOn checks against it.
inline constexpr auto connection_transitions = [] {
  using enum ConnectionState;
  using enum ConnectionCause;
  return std::to_array<ConnectionTransition>({
      {opening, opened, open},          {opening, finish, finishing},
      {opening, reset, resetting},      {opening, link_lost, closed},
      {opening, cut_off, closed},       {open, finish, finishing},
      {open, reset, resetting},         {open, link_lost, closed},
      {open, cut_off, closed},          {finishing, reset, resetting},
      {finishing, sent, closed},        {finishing, sent_unread, lingering},
      {finishing, linger_ends, closed},  // before the output is sent: the other side sends too much
      {finishing, link_lost, closed},   {finishing, cut_off, closed},
      {lingering, reset, resetting},    {lingering, linger_ends, closed},
      {lingering, link_lost, closed},   {lingering, cut_off, closed},
      {resetting, linger_ends, closed},  // likewise
      {resetting, link_lost, closed},   {resetting, cut_off, closed},
  });
}();

namespace detail {
constexpr auto make_connection_matrix() {
  std::array<std::array<ConnectionState, connection_cause_names.size()>,
             connection_state_names.size()>
      matrix{};
  for (std::size_t from = 0; from < matrix.size(); ++from) {
    matrix[from].fill(static_cast<ConnectionState>(from));
  }
  for (const auto& [from, cause, to] : connection_transitions) {
    matrix[static_cast<std::size_t>(from)][static_cast<std::size_t>(cause)] = to;
  }
  return matrix;
}
inline constexpr auto connection_matrix = make_connection_matrix();
}  // namespace detail

// The state after `cause`; the same state means that the table has no such transition.
constexpr ConnectionState state_after(ConnectionState from, ConnectionCause cause) noexcept {
  return detail::connection_matrix[static_cast<std::size_t>(from)][static_cast<std::size_t>(cause)];
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
