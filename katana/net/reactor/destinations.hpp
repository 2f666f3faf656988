// Destinations: where the outgoing connections of a reactor lead, in the place of name resolution
// and TLS. For tests, whose network is a simulated one.
//
// Owns       what derives from it has; it is attached to its reactor, which destroys it.
// Thread     its reactor's.
// Fails      find() with the reason that the request then fails with.
// Invariant  a reactor that has one connects to nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::net {

class Destinations : public Attachment {
 public:
  // Plaintext is spoken there, whatever the scheme.
  virtual Result<engine::ConnectOptions> find(bool secure, const std::string& host,
                                              std::uint16_t port) const = 0;

  // REQUIRES that the reactor has none.
  static void attach(Reactor& reactor, std::unique_ptr<Destinations> destinations) {
    reactor.attach(&key, std::move(destinations));
  }
  // Null: the reactor's network is the machine's.
  static Destinations* of(const Reactor& reactor) noexcept {
    return static_cast<Destinations*>(reactor.attached(&key));
  }

 private:
  inline static constexpr char key = 0;  // its address is
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
