// Cache headers of a reply that is made for one client (session::PersonalMark).
//
//   no Cache-Control                     no-store, or private when only a nonce, an address or a
//                                        cookie personalises it
//   Cache-Control without either         private is added to the handler's directives: RFC 9111
//                                        §5.2.2.7
//   CDN-Cache-Control, Surrogate-Control left out: they go before Cache-Control (RFC 9213 §2.2)
//   a cookie was looked for              Vary: Cookie
//
// Thread     the reactor's.
// Allocates  as fields of a reply do.
// Fails      never; a reply without room for a field becomes invalid(), and 500 is sent.
// Invariant  it is the last to change a reply: behind the middleware of the route.
#pragma once

#include "katana/base/system/hints.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana::detail {

KATANA_RARE void restrict_sharing(const session::PersonalMark& mark, Reply& reply);

inline void restrict_sharing(const session::Exchange& exchange, Reply& reply) {
  const session::RequestState* const state = exchange.kept();
  if (state != nullptr && state->personal().is_set_at_all()) {
    restrict_sharing(state->personal(), reply);
  }
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
