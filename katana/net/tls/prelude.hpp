// Prelude: the exchange on a connection before TLS begins, such as CONNECT to a proxy.
//
// Owns       the data of its implementation.
// Borrows    input, for the call.
// Thread     its connection's reactor.
// Allocates  as its implementation does.
// Fails      by State::failed; its implementation says why.
// Invariant  bytes behind the prelude are TLS's: next() does not consume them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::tls {

class Prelude {
 public:
  // Whether the prelude goes on, TLS may begin, or the connection is to be closed.
  enum class State : std::uint8_t { going, done, failed };
  // The result of one call of next().
  struct Step {
    State state = State::going;  // after the input
    std::size_t consumed = 0;    // bytes of the input that belong to the prelude
  };

  virtual ~Prelude() = default;
  // The bytes that are sent first.
  virtual Bytes request() const noexcept = 0;
  virtual Step next(Bytes input) noexcept = 0;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
