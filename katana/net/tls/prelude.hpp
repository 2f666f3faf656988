// Prelude: what is said on a connection before TLS begins, such as CONNECT to a proxy.
//
// Owns       what its implementation keeps.
// Borrows    input, for the call.
// Thread     its connection's reactor.
// Allocates  what its implementation does.
// Fails      by State::failed; whoever made it says why.
// Invariant  bytes behind the prelude are TLS's: next() does not consume them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::tls {

class Prelude {
 public:
  enum class State : std::uint8_t { going, done, failed };
  struct Step {
    State state = State::going;
    std::size_t consumed = 0;
  };

  virtual ~Prelude() = default;
  // What is sent first.
  virtual Bytes request() const noexcept = 0;
  virtual Step next(Bytes input) noexcept = 0;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
