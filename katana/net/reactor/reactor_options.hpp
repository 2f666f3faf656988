// ReactorOptions, MemoryBudget and ClientLimitOptions: what a reactor is made with, what it may
// take, and what one client may have. The values alone, for headers that have no reactor.
//
// Owns       values.
// Thread     values.
// Allocates  lists of networks.
// Fails      never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/network.hpp"
#include "katana/net/engine/endpoints.hpp"

namespace katana::net {

struct ReactorOptions {
  engine::Options engine = {};  // links and receive buffers
  // Pending output above which a session is paused, and at or below which it goes on.
  std::size_t outbox_high_bytes = 64 * 1024;
  std::size_t outbox_low_bytes = 16 * 1024;
  std::size_t output_block_bytes = 4096;
  std::size_t output_blocks_max = 64 * 1024;
  // For connections that have nothing pending, each of which gets a block of it. While fewer are
  // free, others that would write are paused; they go on at twice as many. Below half of
  // output_blocks_max outbox_high_bytes falls for all, down to a block where the reserve begins. At
  // most half of output_blocks_max; 0: blocks are given until none is left.
  std::size_t output_blocks_reserve = 1024;
  // A connection that has nothing pending and wants more than a block waits so long for others to
  // give some back. Then those that hold most and have taken least are reset.
  Duration shed_after = seconds(1);
  std::size_t carry_small_bytes = 4096;
  // Beyond one receive, what a session may leave unconsumed: its largest message head.
  std::size_t carry_extra_bytes = 32 * 1024;
  std::size_t carry_large_max = 1024;
  // A client or server that takes no byte for so long is cut off. Bytes it takes buy it time at
  // rate_min_bytes_per_s.
  Duration send_timeout = seconds(30);
  std::int64_t rate_min_bytes_per_s = 1024;
  // How long a lingering close waits for the other side, and how much it reads from it.
  Duration linger_timeout = seconds(2);
  std::uint32_t linger_bytes_max = 16 * 1024 * 1024;
  Duration accept_retry = milliseconds(100);
  // A connection's timer stays where it stands when its deadline moves later. False: it is moved
  // each time, which the laboratory compares with.
  bool lazy_timers = true;
  // A transform that is not open by then is given up.
  Duration opening_timeout = seconds(10);
  // What is costly about opening one (the signature of a TLS handshake) is done for so many
  // connections in a turn, so that established ones do not wait long. At least 1.
  std::uint32_t openings_per_turn_max = 16;
  // How long the reactor spins before it sleeps while it waits for another thread's result (a
  // commit, a job); see AdaptiveSpin. It takes up to some tens of microseconds off the latency of
  // such a request and costs the processor time that sleeping would have saved. 0: it sleeps.
  Duration spin_max = {};
  // What clients can make the reactor keep outside of its pools (HeldMemory). Beyond half of it
  // those that hold much are not read, but for one, until that one has been answered or shed_after
  // is over. Beyond seven eighths the largest holders are refused: 503, or 1013. 0: 16 KiB for each
  // link, at least 64 MiB.
  std::size_t held_bytes_max = 0;
  // What a transform has made of the outbox and the other side has not taken. Above it the outbox
  // waits.
  std::size_t sealed_high_bytes = 64 * 1024;
  // Bytes that a turn sends of what sessions write in it, and as many of what earlier turns left.
  // A connection with more than one pending output block then waits for later turns, in the order
  // in which they came; what fits one block is always sent at once.
  std::size_t turn_bytes_max = std::size_t{2} * 1024 * 1024;
  // A connection that is so old ends gently: with its next reply, or a GOAWAY, or a close frame of
  // WebSocket, as when the server drains. Each a little earlier, by up to a tenth, so that those
  // which came together do not come back together. 0: it may grow as old as it likes.
  Duration connection_age_max = {};
  // Spawned tasks that may be running at a time; see net/reactor/spawn.hpp.
  std::size_t tasks_max = 10'000;
};

// Most memory that a reactor can use, in bytes. Address space is reserved at start; memory follows
// the load.
struct MemoryBudget {
  std::size_t connections = 0;  // connections and their sessions
  std::size_t output = 0;       // blocks of outboxes
  std::size_t carry = 0;        // blocks of bytes that were received and not consumed
  std::size_t engine = 0;       // shared by all connections, whatever their number
  std::size_t held = 0;         // outside of the pools: contents, messages, replies, handlers
  std::size_t shared = 0;       // what the protocols have once
  // The sum of all.
  std::size_t total() const noexcept {
    return connections + output + carry + engine + held + shared;
  }
};

inline constexpr std::uint32_t clients_counted_max =
    1'000'000;  // connections a second, and at once
inline constexpr std::uint64_t received_bytes_max = std::uint64_t{1} << 40;

// For one client; each 0 is no limit.
struct ClientLimitOptions {
  std::uint32_t connections_max = 0;       // open at a time
  std::uint32_t connections_per_s = 0;     // new ones, on average
  std::uint32_t connections_burst = 100;   // the same, at once
  std::uint32_t handshakes_max = 0;        // of TLS, or headers of the PROXY protocol, in progress
  std::uint32_t requests_max = 0;          // in progress; of HTTP/2 that is streams
  std::uint64_t received_bytes_per_s = 0;  // on average; then it is read no faster
  std::uint64_t received_bytes_burst = std::uint64_t{4} << 20;  // the same, at once
  unsigned v4_bits = 32;                                        // of an address that make a client
  unsigned v6_bits = 64;                                        // the same of IPv6
  std::uint32_t clients_max = 64 * 1024;                        // that are counted at a time
  std::vector<Network> allow = {};   // alone may connect; empty: everybody
  std::vector<Network> deny = {};    // may not, whatever `allow` says
  std::vector<Network> exempt = {};  // may connect, and are not counted
};

// Whether any of them does anything.
bool limits_anything(const ClientLimitOptions& options) noexcept;

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
