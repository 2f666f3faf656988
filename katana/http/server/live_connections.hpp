// LiveConnections: the open connections of one reactor, oldest first, as a walk of it.
// ClientCloser: closes those of one client.
//
// Owns       copies of their facts.
// Thread     see ReactorWalk.
// Allocates  the copies.
// Fails      never; without memory for copies the list is shorter.
// Invariant  a slice visits at most about slice_max connections.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/client_address.hpp"
#include "katana/http/server/reactor_walk.hpp"
#include "katana/net/engine/endpoints.hpp"
#include "katana/net/reactor/connection_states.hpp"

namespace katana::server {

// One connection.
struct LiveConnection {
  engine::PeerEndpoint peer = {};  // the other side; of an outgoing connection: none
  Bytes protocol = {};             // "http/1.1"; a literal. Empty: not named
  net::ConnectionState state = net::ConnectionState::open;  // of the reactor
  bool is_outgoing = false;                                 // the program has opened it
  bool has_tls = false;                                     // it is encrypted
  std::uint8_t pause_reasons = 0;                           // bits of net::PauseReason
  Duration age = {};                                        // since it was accepted, or opened
  std::uint32_t requests = 0;                               // that were begun on it
  std::uint64_t bytes_received = 0;                         // since its begin
  std::uint64_t bytes_sent = 0;                             // since its begin
  std::size_t input_bytes = 0;                              // received, and not consumed
  std::size_t output_bytes = 0;                             // written, and not sent
};

// The names of the reasons in such bits: "handler_pending, pool_low"; empty: it is read.
std::string pause_text(std::uint8_t reasons);

// The connections that are wanted.
struct LiveConnectionFilter {
  std::optional<ClientAddress> client = {};  // none: all
  Duration older = {};                       // younger ones are left out
  bool paused = false;                       // only those that are not read
  std::size_t limit = 100;                   // of each reactor: the oldest
};

class LiveConnections final : public ReactorWalk {
 public:
  static constexpr std::size_t slice_max = 256;  // connections that are visited in one turn

  explicit LiveConnections(LiveConnectionFilter filter) : filter_(std::move(filter)) {}

  // Once is_over(): a heap with the oldest connection on top, and the number of all that are
  // wanted.
  std::vector<LiveConnection>& heap() noexcept { return kept_; }
  // The order of the heap.
  static bool is_younger(const LiveConnection& one, const LiveConnection& other) noexcept {
    return one.age < other.age;
  }
  std::size_t matched() const noexcept { return matched_; }
  // The memory of the copies.
  std::size_t held_bytes() const noexcept { return kept_.capacity() * sizeof(LiveConnection); }

 private:
  bool slice(net::Reactor& reactor) noexcept override;
  void visit(net::Connection& connection, Instant now);

  const LiveConnectionFilter filter_;
  Instant now_ = never;  // of all ages: that of the first slice
  std::size_t place_ = 0;
  std::size_t matched_ = 0;
  std::vector<LiveConnection> kept_;
};

// Closes the connections of one address on one reactor.
class ClientCloser final : public ReactorWalk {
 public:
  static constexpr std::size_t slice_max = 64;  // places of links that are visited in one turn

  explicit ClientCloser(const ClientAddress& client) : client_(client) {}
  // The number at present; all of them once is_over(). Any thread.
  std::size_t closed() const noexcept { return closed_.load(std::memory_order_relaxed); }

 private:
  bool slice(net::Reactor& reactor) noexcept override;

  const ClientAddress client_;
  std::size_t place_ = 0;
  std::atomic<std::size_t> closed_ = 0;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
