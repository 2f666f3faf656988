// States of the life of a connection, and every transition between them.
//
// Connection changes its state only by this table. ReactorOn checks the last move before it gives
// the connection's memory back. The test connection_states_test draws docs/diagrams/connection.md
// from the table, compares the two, and takes each transition. With KATANA_UPDATE set it draws
// anew.
//
// The flags of Connection are independent of the state. They hold the pause reasons, requests to
// the engine, ends of the other side, and calls of the session that are due.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::net {

// In this order: from finishing on the session is offered nothing more.
enum class ConnectionState : std::uint8_t {
  opening,    // its transform shakes hands; without one it is passed at once
  open,       // its session is offered the other side's bytes
  finishing,  // the session has ended it; pending output is sent
  lingering,  // our side is shut down; later input is read and dropped
  resetting,  // a reset is due as soon as the present call has returned
  closed,     // the link is given back, the session destroyed
};

// The events that move a connection from one state to the next.
enum class ConnectionCause : std::uint8_t {
  opened,       // the transform is open, or there is none
  finish,       // by the session, or because the transform failed
  reset,        // by the session
  sent,         // and the other side's input is all read, or has ended
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
      {finishing, linger_ends, closed},  // output is not sent yet: the other side sends too much
      {finishing, link_lost, closed},   {finishing, cut_off, closed},
      {lingering, reset, resetting},    {lingering, linger_ends, closed},
      {lingering, link_lost, closed},   {lingering, cut_off, closed},
      {resetting, linger_ends, closed},  // for the same reason
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
