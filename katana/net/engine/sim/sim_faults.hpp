// SimFaults: how often, and how badly, the simulated kernel and network misbehave.
//
// Owns       nothing but its numbers.
// Allocates  describe() only.
// Thread     a value.
// Fails      never.
// Invariant  every fault is one that a real kernel or network can show.
#pragma once

#include <cstdint>
#include <string>

namespace katana::engine {

// A range from which values are drawn, both bounds included.
struct SimRange {
  std::uint32_t min = 0;  // smallest value that is drawn
  std::uint32_t max = 0;  // largest value that is drawn
};

// Chances are in 1/1024. The defaults are a mild mix that loses nothing.
struct SimFaults {
  // Deliveries.
  std::uint32_t shuffle = 512;          // the deliveries of a turn are in any order across links
  std::uint32_t spurious_turn = 32;     // a turn ends early and delivers nothing
  std::uint32_t late_completion = 64;   // a completion stays in the engine for a while
  std::uint32_t fragment = 256;         // on_bytes() gets a part of the bytes
  std::uint32_t ring_exhausted = 32;    // no receive buffer is free: the delivery is postponed
  std::uint32_t multishot_end = 32;     // receiving has to be armed again after a delivery
  std::uint32_t unnoticed_reset = 512;  // a reset shows on a paused link only when it is touched

  // Sends.
  std::uint32_t short_send = 128;       // the kernel takes a part, though it has room
  std::uint32_t copied_send = 64;       // short output is completed without room, from a copy
  std::uint32_t completion_send = 128;  // nothing is taken now; the bytes are read later
  std::uint32_t readiness_send = 512;   // a pending send ends with on_sent(0) once there is room

  // Accepting.
  std::uint32_t accept_failure = 8;  // no descriptor or no memory is left
  SimRange accept_failures{1, 3};    // attempts that fail in a row

  // Losses.
  std::uint32_t link_reset = 0;    // the network resets a connection at some moment of its life
  std::uint32_t reset_loses = 0;   // a reset overtakes the bytes that were in flight
  std::uint32_t close_resets = 0;  // close() with input unread, or before more arrives, is a reset
  SimRange reset_after_us{0, 100'000};  // moment of link_reset, from the handshake on

  // Times and sizes.
  SimRange to_server_us{20, 200};
  SimRange to_peer_us{20, 200};
  SimRange completion_us{1, 500};  // how late a late completion is
  SimRange turn_us{1, 20};         // length of a turn; at least 1, so that time always passes
  SimRange segment_bytes{1, 16 * 1024};
  SimRange peer_window_bytes{4 * 1024, 64 * 1024};    // sent by the server, unread by the client
  SimRange server_window_bytes{4 * 1024, 64 * 1024};  // sent by the client, unread by the server

  // No fault at all: 50 us each way, whole segments, full windows.
  static SimFaults calm();
  // A mix that the seed draws: each fault is off, rare, or frequent.
  static SimFaults random(std::uint64_t seed);
  // The same mix without the faults that may lose bytes: everything that is sent must arrive.
  SimFaults lossless() const;
  // One line per fault, for the report of a failing seed.
  std::string describe() const;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
