// ClientLimits: the limits of each client: connections, new connections, handshakes, requests and
// received bytes. Also the lists of addresses that may connect. One table serves the process: the
// limits hold whatever the number of reactors is.
//
// A client is an address of IPv4, or the first 64 bits of one of IPv6, which is one subscriber's
// network. Clients on a Unix-domain socket and exempt clients are not counted. The requests of a
// trusted proxy that speaks HTTP count for the clients that it names.
//
// An entry is forgotten only when nothing is open or in progress and its rates are full again. A
// client therefore cannot get rid of its counts by filling the table with others. Clients that find
// no free place in their set share one entry. The limits hold for them together.
//
// Owns       a table of fixed size; its memory is known at start.
// Thread     any: each part of the table has a lock, held for some ten nanoseconds. An admitted
//            connection names its entry by a Slot, which is given back once.
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

// The reason why a connection is not admitted.
enum class ClientRefusal : std::uint8_t {
  none,         // it is admitted
  denied,       // by the lists allow and deny
  connections,  // connections_max are open
  rate,         // connections_per_s, connections_burst
  handshakes,   // handshakes_max are in progress
};
// The number of values, `none` included.
inline constexpr std::size_t client_refusals = 5;

class ClientLimits {
 public:
  // Names an entry; 0: none, and nothing is counted.
  using Slot = ClientSlot;

  // With a secret, an attacker cannot find clients that share a set.
  ClientLimits(const ClientLimitOptions& options, std::uint64_t secret);

  // The result of admit().
  struct Admission {
    ClientRefusal refusal = ClientRefusal::none;  // none: admitted
    Slot slot = 0;                                // 0 when refused
  };
  // Judges a new connection. `handshakes`: whether it has a handshake before it is open.
  Admission admit(const engine::PeerEndpoint& peer, bool handshakes, Instant now) noexcept;
  // Ends the handshake of a connection. REQUIRES a slot that is not 0, as do all functions below.
  void end_handshake(Slot slot) noexcept;
  // Ends a connection whose handshake has been ended. Its requests may go on.
  void leave(Slot slot) noexcept;

  // None: the client has reached requests_max.
  std::optional<ClientPlace> begin_request(Slot slot) noexcept;
  // The same for a client that a proxy names: the connection is the proxy's. An exempt client is
  // not counted.
  std::optional<ClientPlace> begin_request(const IpAddress& address, Instant now) noexcept;
  bool counts_requests() const noexcept { return options_.requests_max != 0; }

  // Charges received bytes. Returns how long the client must not be read.
  Duration take_bytes(Slot slot, std::size_t bytes, Instant now) noexcept;
  bool counts_bytes() const noexcept { return options_.received_bytes_per_s != 0; }
  // The most bytes of one receive: a client then gets no turn beyond its share. It is the burst, or
  // an eighth of a second of its rate once the burst is used up.
  std::size_t receive_max(bool has_burst) const noexcept;

  // The options that the constructor got.
  const ClientLimitOptions& options() const noexcept { return options_; }
  // The memory of the table.
  std::size_t memory_bytes() const noexcept { return sets_.size() * sizeof(Set); }
  // The number of clients with an entry, and of requests in progress. Both read the whole table:
  // for tests.
  std::size_t clients(Instant now) const;
  std::size_t requests() const;

 private:
  friend class ClientPlace;
  void end_request(Slot slot) noexcept;

  static constexpr std::size_t ways = 8;  // and one shared entry
  static constexpr std::size_t locks = 256;
  struct Entry {
    std::int64_t connections_full_at_ns = INT64_MIN;
    std::int64_t bytes_full_at_ns = INT64_MIN;
    // The latest time of its connections. Reactors read their clocks once a turn: one may be
    // behind.
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
  // The index of the entry for this key; `ways`: the shared one. REQUIRES the lock.
  static std::size_t way_of(Set& set, std::uint64_t key, std::int64_t now_ns) noexcept;
  ClientRefusal judge(Entry& entry, bool handshakes, std::int64_t now_ns) const noexcept;

  const ClientLimitOptions options_;
  const NetworkSet allow_, deny_, exempt_;
  const std::uint64_t secret_;
  const std::int64_t connection_ns_;  // cost of one new connection; 0: no limit
  const double byte_ns_;              // cost of one byte
  std::vector<Set> sets_;
  const std::unique_ptr<std::mutex[]> locks_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
