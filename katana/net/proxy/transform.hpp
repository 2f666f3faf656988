// ProxyTransforms: a TransformFactory for listeners behind a proxy that speaks the PROXY protocol.
// ProxyTransform: waits for the header of one connection, then hands over to TLS or to the session.
// From then on the connection costs as much as any other. Its client is the one that the proxy
// named.
//
// The listener decides which addresses may send a header (`net::ListenerGuard::peers`). The header
// of every connection that comes here is trusted.
//
// Owns       the counts; a transform its machine.
// Borrows    the factory of the next transform; it outlives this.
// Thread     its reactor's.
// Allocates  a transform for each connection, until its header is complete.
// Fails      a header that is malformed, late or cut is counted, and ends the connection.
// Invariant  bytes behind the header are not read here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "katana/net/reactor/transform.hpp"
#include "katana/wire/proxy/machine.hpp"

namespace katana::proxy {

// The counts of one reactor's listeners that are behind proxies.
struct ProxyCounters {
  std::uint64_t named = 0;    // connections whose client was named
  std::uint64_t unnamed = 0;  // LOCAL, UNKNOWN, a Unix socket: the client is the proxy
  std::uint64_t late = 0;     // no header in time
  std::uint64_t cut = 0;      // the proxy closed within it
  // Rejected headers, by Refusal.
  std::array<std::uint64_t, static_cast<std::size_t>(Refusal::count_)> refused{};

  // The sum over all reasons.
  std::uint64_t refused_in_all() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : refused) sum += each;
    return sum;
  }
};

class ProxyTransforms final : public net::TransformFactory {
 public:
  // The header has to be complete after `timeout`. `next`: the factory of the transform behind it;
  // null: none.
  ProxyTransforms(Duration timeout, net::TransformFactory* next, ProxyCounters& counters) noexcept
      : timeout_(timeout), next_(next), counters_(counters) {}

  std::unique_ptr<net::Transform> make(BlockPool& blocks) noexcept override;
  std::size_t heap_bytes_each() const noexcept override;

 private:
  friend class ProxyTransform;
  const Duration timeout_;
  net::TransformFactory* const next_;
  ProxyCounters& counters_;
};

// The transform of one connection until its header is complete.
class ProxyTransform final : public net::Transform {
 public:
  ProxyTransform(ProxyTransforms& factory, BlockPool& blocks) noexcept
      : Transform(blocks), factory_(factory), blocks_(blocks) {}

  net::TransformStep receive(Bytes input, std::span<char> plain, Instant now) noexcept override;
  net::HandedOn hand_on() noexcept override;
  Duration opening_timeout(Duration) const noexcept override { return factory_.timeout_; }
  void cut(net::TransformCut why) noexcept override;
  // It never opens: nothing is sealed.
  void admit() noexcept override {}
  std::size_t seal(Bytes) noexcept override { return 0; }
  bool can_seal() const noexcept override { return false; }
  void seal_end() noexcept override {}
  Bytes application_protocol() const noexcept override { return {}; }

 private:
  ProxyTransforms& factory_;
  BlockPool& blocks_;
  Machine machine_;
};

}  // namespace katana::proxy

// SPDX-License-Identifier: Apache-2.0
