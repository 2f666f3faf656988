// Rules: the decisions of the epoll engine, as constants, and again as variables, to measure the
// gain of each decision.
//
// Owns       nothing.
// Thread     any; read by the engine's.
// Invariant  Decided costs nothing: a constant of a template folds away. An engine with Undecided
//            keeps the contract whatever its values are; the tests of the contract run on it.
//
// The savings of each decision are measured by lab/experiments/ablation_*.yaml.
#pragma once

#include <cstddef>
#include <cstdint>

namespace katana::engine {

// The decisions of the product; the default of EpollEngine.
struct Decided {
  // A recv that fills less than the buffer has drained the socket. True: recv again until EAGAIN
  // (edge-triggered only).
  static constexpr bool read_again = false;
  // Reads right after the accept, before EPOLL_CTL_ADD. False: waits until epoll reports the bytes.
  static constexpr bool first_read = true;
  // TCP_DEFER_ACCEPT on listeners whose clients speak first.
  static constexpr bool deferred_accept = true;
  // Accepted sockets have the listener's options. False: they are set on each.
  static constexpr bool inherited_options = true;
  // close() takes a descriptor out of the set. True: EPOLL_CTL_DEL before it.
  static constexpr bool delete_before_close = false;
  // Closes at once. True: all together, when the turn ends.
  static constexpr bool close_at_turn_end = false;
  // Waits in nanoseconds. False: waits of whole milliseconds, as on Linux before 5.11.
  static constexpr bool precise_waits = true;
  // The limit keeps a flood of new connections from starving existing ones.
  static constexpr int accepts_per_event_max = 64;
  static constexpr int events_per_wait_max = 1024;
  // The least number of links per turn that are read again, because they were not read to the end.
  static constexpr std::size_t left_per_turn_min = 4;
  // Refused connections are most of a flood; after so many the turn is long enough.
  static constexpr int refusals_per_event_max = 8;
};

// For the ablation experiments and the tests of the contract; set before the engine is made.
struct Undecided {
  bool read_again = Decided::read_again;  // edge-triggered only
  bool first_read = Decided::first_read;  // false: one epoll_wait more for each connection
  bool deferred_accept = Decided::deferred_accept;      // false: accepted at the handshake
  bool inherited_options = Decided::inherited_options;  // false: setsockopt on each accepted socket
  bool delete_before_close = Decided::delete_before_close;  // true: one epoll_ctl more a link
  bool close_at_turn_end = Decided::close_at_turn_end;  // true: the number is free again only then
  bool precise_waits = Decided::precise_waits;  // false: a short pause is a millisecond late
  int accepts_per_event_max = Decided::accepts_per_event_max;  // 1 …
  int events_per_wait_max = Decided::events_per_wait_max;      // 1 … Decided's
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
