// Destinations: the targets of a reactor's outgoing connections, instead of name resolution and
// TLS. For tests on a simulated network.
//
// Owns       the members of its subclass; it is attached to its reactor, which destroys it.
// Thread     its reactor's.
// Fails      find() with the reason with which the request then fails.
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
  // Connections there are plaintext, whatever the scheme.
  virtual Result<engine::ConnectOptions> find(bool secure, const std::string& host,
                                              std::uint16_t port) const = 0;

  // REQUIRES that the reactor has none.
  static void attach(Reactor& reactor, std::unique_ptr<Destinations> destinations) {
    reactor.attach(&key, std::move(destinations));
  }
  // Null: the reactor uses the machine's network.
  static Destinations* of(const Reactor& reactor) noexcept {
    return static_cast<Destinations*>(reactor.attached(&key));
  }

 private:
  inline static constexpr char key = 0;  // its address is the key
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
