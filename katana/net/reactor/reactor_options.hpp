// ReactorOptions, MemoryBudget and ClientLimitOptions: the options of a reactor, its memory, and
// the limits of one client. These are plain values, for headers that have no reactor.
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
  // Blocks for connections that have nothing pending, one block each. While fewer are free, other
  // writers are paused; they go on at twice as many. Below half of output_blocks_max
  // outbox_high_bytes falls for all, down to a block where the reserve begins. At most half of
  // output_blocks_max; 0: blocks are given until none is left.
  std::size_t output_blocks_reserve = 1024;
  // How long a connection with nothing pending that wants more than a block waits for others to
  // give some back. Then the connections that hold most and have taken least are reset.
  Duration shed_after = seconds(1);
  std::size_t carry_small_bytes = 4096;
  // The bytes beyond one receive that a session may leave unconsumed: its largest message head.
  std::size_t carry_extra_bytes = 32 * 1024;
  std::size_t carry_large_max = 1024;
  // A client or server that takes no byte for so long is cut off. Each byte that it takes extends
  // the time, at rate_min_bytes_per_s.
  Duration send_timeout = seconds(30);
  std::int64_t rate_min_bytes_per_s = 1024;
  // How long a lingering close waits for the other side, and how many bytes of it are read.
  Duration linger_timeout = seconds(2);
  std::uint32_t linger_bytes_max = 16 * 1024 * 1024;
  Duration accept_retry = milliseconds(100);
  // A connection's timer stays where it is when its deadline moves later. False: it is moved each
  // time, for comparison in the laboratory.
  bool lazy_timers = true;
  // The timeout for opening a transform.
  Duration opening_timeout = seconds(10);
  // The most connections per turn for which the costly part of opening (the signature of a TLS
  // handshake) is done. Established connections then do not wait long. At least 1.
  std::uint32_t openings_per_turn_max = 16;
  // How long the reactor spins before it sleeps while it waits for another thread's result (a
  // commit, a job); see AdaptiveSpin. It saves up to some tens of microseconds of latency per such
  // request. It costs the processor time that sleeping would have saved. 0: it sleeps.
  Duration spin_max = {};
  // The most memory that clients can make the reactor hold outside of its pools (HeldMemory).
  // Beyond half of it, large holders are not read. One of them goes on until it has been answered
  // or shed_after is over. Beyond seven eighths the largest holders are refused: 503, or 1013. 0:
  // 16 KiB for each link, at least 64 MiB.
  std::size_t held_bytes_max = 0;
  // The most bytes of a transform's output that the other side has not taken. Above it the outbox
  // waits.
  std::size_t sealed_high_bytes = 64 * 1024;
  // The most bytes that a turn sends of new output, and again of output left over from earlier
  // turns. A connection with more than one pending output block then waits for later turns, in
  // order of arrival. Output that fits one block is always sent at once.
  std::size_t turn_bytes_max = std::size_t{2} * 1024 * 1024;
  // The age at which a connection ends gently: with its next reply, a GOAWAY, or a close frame of
  // WebSocket, as in a drain. Each ends a little earlier, by up to a tenth: connections that came
  // together do not come back together. 0: no limit.
  Duration connection_age_max = {};
  // The most spawned tasks that run at a time; see net/reactor/spawn.hpp.
  std::size_t tasks_max = 10'000;
};

// The most memory that a reactor can use, in bytes. Address space is reserved at start; memory use
// follows the load.
struct MemoryBudget {
  std::size_t connections = 0;  // connections and their sessions
  std::size_t output = 0;       // blocks of outboxes
  std::size_t carry = 0;        // blocks of bytes that were received and not consumed
  std::size_t engine = 0;       // shared by all connections, whatever their number
  std::size_t held = 0;         // outside of the pools: bodies, messages, replies, handlers
  std::size_t shared = 0;       // one-time memory of the protocols
  // The sum of all.
  std::size_t total() const noexcept {
    return connections + output + carry + engine + held + shared;
  }
};

inline constexpr std::uint32_t clients_counted_max =
    1'000'000;  // connections a second, and at once
inline constexpr std::uint64_t received_bytes_max = std::uint64_t{1} << 40;

// Limits of one client; 0 means no limit.
struct ClientLimitOptions {
  std::uint32_t connections_max = 0;       // open at a time
  std::uint32_t connections_per_s = 0;     // new ones, on average
  std::uint32_t connections_burst = 100;   // the same, at once
  std::uint32_t handshakes_max = 0;        // in progress; of TLS, or headers of the PROXY protocol
  std::uint32_t requests_max = 0;          // in progress; streams in HTTP/2
  std::uint64_t received_bytes_per_s = 0;  // on average; it is read no faster
  std::uint64_t received_bytes_burst = std::uint64_t{4} << 20;  // the same, at once
  unsigned v4_bits = 32;                                        // of an address that form a client
  unsigned v6_bits = 64;                                        // the same of IPv6
  std::uint32_t clients_max = 64 * 1024;                        // counted at a time
  std::vector<Network> allow = {};   // the only ones that may connect; empty: all
  std::vector<Network> deny = {};    // may not connect, whatever `allow` says
  std::vector<Network> exempt = {};  // may connect, and are not counted
};

// Whether any of the limits is set.
bool limits_anything(const ClientLimitOptions& options) noexcept;

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
