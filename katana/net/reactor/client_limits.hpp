// ClientLimits: what any one client may have at a time, and how fast: connections, new
// connections, handshakes, requests and received bytes; and who may connect at all. One table for
// the process, so that the figures hold however many reactors there are.
//
// A client is an address of IPv4, or the first 64 bits of one of IPv6, which is what one subscriber
// has. Clients by a Unix-domain socket, and those that are exempt, are not counted. The requests of
// a trusted proxy that speaks HTTP count for the clients that it names.
//
// An entry is forgotten only when nothing is left of it: nothing is open or in progress, and its
// rates are full again. Therefore a client cannot get rid of what is counted against it by filling
// the table with others. A client that finds no free place shares one with all that find none in
// its set, as if they were one: the limits hold for them together.
//
// Owns       a table of fixed size; what it takes is known at start.
// Thread     any: each part of the table has a lock, held for some ten nanoseconds. A connection
//            that is admitted names its entry by a Slot, which is given back once.
// Allocates  at construction.
// Fails      a Refusal, which the caller counts.
// Invariant  an entry with a connection or a request is never another client's. A request counts
//            until its ClientPlace is destroyed: its connection may be gone by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/base/values/network.hpp"
#include "katana/net/engine/endpoints.hpp"
#include "katana/net/reactor/client_place.hpp"
#include "katana/net/reactor/reactor_options.hpp"

namespace katana::net {

// Why a connection is not admitted.
enum class ClientRefusal : std::uint8_t {
  none,         // it is
  denied,       // by allow and deny
  connections,  // connections_max are open
  rate,         // connections_per_s, connections_burst
  handshakes,   // handshakes_max are in progress
};
// How many there are, `none` included.
inline constexpr std::size_t client_refusals = 5;

class ClientLimits {
 public:
  // Names an entry; 0: none, for whom nothing is counted.
  using Slot = ClientSlot;

  // `secret`: without it, an attacker cannot find clients that share a set.
  ClientLimits(const ClientLimitOptions& options, std::uint64_t secret);

  // What admit() says.
  struct Admission {
    ClientRefusal refusal = ClientRefusal::none;  // none: admitted
    Slot slot = 0;                                // none when refused
  };
  // A connection that `handshakes` before it is open, or does not.
  Admission admit(const engine::PeerEndpoint& peer, bool handshakes, Instant now) noexcept;
  // REQUIRES a slot that is not 0, of these as of all below.
  void end_handshake(Slot slot) noexcept;
  // The connection is gone, and its handshake has been ended. Its requests may go on.
  void leave(Slot slot) noexcept;

  // None: as many are in progress as may be.
  std::optional<ClientPlace> begin_request(Slot slot) noexcept;
  // The same of a client without a connection here: that is its proxy's, which names it. One that
  // is exempt is not counted.
  std::optional<ClientPlace> begin_request(const IpAddress& address, Instant now) noexcept;
  bool counts_requests() const noexcept { return options_.requests_max != 0; }

  // How long nothing more is to be read of it.
  Duration take_bytes(Slot slot, std::size_t bytes, Instant now) noexcept;
  bool counts_bytes() const noexcept { return options_.received_bytes_per_s != 0; }
  // What one receive may bring, so that a client gets no turn beyond its share: its burst, and an
  // eighth of a second of its rate when it has had that.
  std::size_t receive_max(bool has_burst) const noexcept;

  // As they were given.
  const ClientLimitOptions& options() const noexcept { return options_; }
  // For the table.
  std::size_t memory_bytes() const noexcept { return sets_.size() * sizeof(Set); }
  // Entries that are some client's, and requests in progress; look at the whole table: for tests.
  std::size_t clients(Instant now) const;
  std::size_t requests() const;

 private:
  friend class ClientPlace;
  void end_request(Slot slot) noexcept;

  static constexpr std::size_t ways = 8;  // and one that is shared
  static constexpr std::size_t locks = 256;
  struct Entry {
    std::int64_t connections_full_at_ns = INT64_MIN;
    std::int64_t bytes_full_at_ns = INT64_MIN;
    // Of its connections the latest: reactors read their clocks once a turn, so one may be behind.
    std::int64_t seen_ns = INT64_MIN;
    std::uint32_t connections = 0;
    std::uint32_t handshakes = 0;
    std::uint32_t requests = 0;

    bool is_over(std::int64_t now_ns) const noexcept {
      return connections == 0 && requests == 0 && connections_full_at_ns <= now_ns &&
             bytes_full_at_ns <= now_ns;
    }
  };
  struct Set {
    std::uint64_t keys[ways] = {};
    Entry entries[ways + 1];
  };

  std::mutex& lock_of(std::size_t set) noexcept { return locks_[set % locks]; }
  static std::size_t set_of(Slot slot) noexcept { return (slot - 1) / (ways + 1); }
  Entry& entry_of(Slot slot) noexcept {
    return sets_[set_of(slot)].entries[(slot - 1) % (ways + 1)];
  }
  struct Home {
    std::uint64_t key;
    std::size_t set;
  };
  Home home_of(const IpAddress& address) const noexcept;
  static Slot slot_of(std::size_t set, std::size_t way) noexcept {
    return static_cast<Slot>(set * (ways + 1) + way + 1);
  }
  // For the client with this key; `ways`: the shared one. REQUIRES the lock.
  static std::size_t way_of(Set& set, std::uint64_t key, std::int64_t now_ns) noexcept;
  ClientRefusal judge(Entry& entry, bool handshakes, std::int64_t now_ns) const noexcept;

  const ClientLimitOptions options_;
  const NetworkSet allow_, deny_, exempt_;
  const std::uint64_t secret_;
  const std::int64_t connection_ns_;  // of one new connection; 0: no limit
  const double byte_ns_;              // of one byte
  std::vector<Set> sets_;
  const std::unique_ptr<std::mutex[]> locks_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
