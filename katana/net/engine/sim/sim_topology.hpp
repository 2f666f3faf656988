// SimTopology: the hosts of a simulated network, and the conditions on the way from one to another.
//
// Owns       for each pair of hosts its path; the segments that a blocked path holds back.
// Borrows    the network that it belongs to; connections until they are gone.
// Allocates  for each path with conditions, and for each connection between hosts with numbers.
// Thread     the network's.
// Fails      never.
// Invariant  a stream keeps its order. A blocked path loses nothing: as TCP sends again, what was
//            sent meanwhile arrives after the block. Host 0, where every engine without a number
//            is, has the same paths to other hosts as they have; within host 0 there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/net/engine/sim/sim_faults.hpp"

namespace katana::engine {

class SimConnection;
class SimNetwork;

// The number of a host. 0: hosts without a number, which share their ports.
using SimAddress = std::uint32_t;

// The numeric address of a host, for ConnectOptions: 198.18.0.0/15, which RFC 2544 keeps for
// benchmarks.
std::string address_text(SimAddress host);
// The host of such an address; 0 for every other address.
SimAddress host_of(const std::string& address) noexcept;

// The way from one host to another, in one direction.
struct SimPath {
  SimRange extra_us{0, 0};        // added to the delay of SimFaults
  std::uint64_t bytes_per_s = 0;  // segments wait for each other; 0: no limit
  std::uint32_t loss = 0;         // 1/1024: a segment is lost, and sent again after 200 ms or more
  bool blocked = false;           // nothing arrives; see the invariant
};

class SimTopology {
 public:
  explicit SimTopology(SimNetwork& network) noexcept : network_(network) {}
  SimTopology(const SimTopology&) = delete;
  SimTopology& operator=(const SimTopology&) = delete;

  // From now on. Segments under way arrive as they would have. The end of a block releases what it
  // held back, after 1 to 200 ms.
  void set_path(SimAddress from, SimAddress to, const SimPath& path);
  SimPath path(SimAddress from, SimAddress to) const;
  // Every path is as without conditions.
  void heal();
  // Both ends of each connection between the hosts see a reset at once; `other` unset: of all
  // connections of `host`. Returns their number.
  std::size_t break_connections(SimAddress host);
  std::size_t break_connections(SimAddress host, SimAddress other);

  // The host loses its power. Its ends of connections vanish without a word: see
  // SimConnection::vanish(). Handshakes with it are repeated each second until it is back.
  void power_off(SimAddress host);
  // The host is back, and answers segments of earlier connections with a reset.
  void power_on(SimAddress host);
  bool is_off(SimAddress host) const { return off_.contains(host); }

  // A second process of the host may listen on the ports of the first one, as behind a restart that
  // hands its listeners over.
  void set_sharing_ports(SimAddress host, bool shares) {
    if (shares) {
      sharing_.insert(host);
    } else {
      sharing_.erase(host);
    }
  }
  bool shares_ports(SimAddress host) const { return sharing_.contains(host); }

  // The wall clock of the host is ahead of the network's by so much, or behind.
  void set_clock_skew(SimAddress host, Duration skew) { skews_[host] = skew; }
  Duration clock_skew(SimAddress host) const;

  // ---- for connections

  // A connection that reset() and power_off() are to find.
  void add(const std::shared_ptr<SimConnection>& connection);
  // Runs `action` when a segment of so many bytes arrives that would arrive at `arrival` without
  // conditions. Returns that time; for a segment that is held back, `arrival`.
  Instant carry(SimAddress from, SimAddress to, std::size_t bytes, Instant arrival,
                std::function<void()> action);

 private:
  struct Way {
    SimPath path;
    Instant free_at{};     // of a link with a rate
    Instant not_before{};  // nothing overtakes what a block held back
    Instant held_until{};  // the latest arrival that they would have had
    std::vector<std::function<void()>> held;
  };
  using Key = std::pair<SimAddress, SimAddress>;

  void release(Way& way);
  template <class F>
  void for_each(F&& f);

  SimNetwork& network_;
  std::map<Key, Way> ways_;
  std::set<SimAddress> off_;
  std::set<SimAddress> sharing_;
  std::map<SimAddress, Duration> skews_;
  std::vector<std::weak_ptr<SimConnection>> connections_;
  std::size_t pruned_at_ = 64;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
