// Destinations: the targets of a reactor's outgoing connections, instead of name resolution and
// TLS; their sockets; and the seeds of random numbers. For tests on a simulated network.
//
// Owns       the members of its subclass; it is attached to its reactor, which destroys it.
// Thread     its reactor's.
// Fails      find() with the reason with which the request then fails.
// Invariant  a reactor that has one connects to nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::engine {
class SocketCalls;
}

namespace katana::net {

class Destinations : public Attachment {
 public:
  // The address of "SCHEME://HOST:PORT". Connections there are plaintext, whatever the scheme.
  virtual Result<engine::ConnectOptions> find(std::string_view scheme, const std::string& host,
                                              std::uint16_t port) const = 0;
  // For clients that read and write their sockets themselves.
  virtual engine::SocketCalls& sockets() const noexcept = 0;
  // The next seed of a generator; the same in each run.
  virtual std::uint64_t draw_seed() noexcept = 0;

  // REQUIRES that the reactor has none.
  static void attach(Reactor& reactor, std::unique_ptr<Destinations> destinations) {
    reactor.attach(&key, std::move(destinations));
  }
  // Null: the reactor uses the machine's network.
  static Destinations* of(const Reactor& reactor) noexcept {
    return static_cast<Destinations*>(reactor.attached(&key));
  }
  // A seed for a generator of the reactor's work: random, or that of its destinations.
  static std::uint64_t seed_for(const Reactor& reactor);

 private:
  inline static constexpr char key = 0;  // its address is the key
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
