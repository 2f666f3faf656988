// Whose request it is that counts in ClientLimits: of the connection's peer, or, when that is a
// trusted proxy which speaks HTTP, of the client that the head names.
//
// Borrows    its arguments for the call.
// Thread     the connection's.
// Allocates  never.
// Fails      empty: as many are in progress as may be; counted.
// Invariant  what a request says of its client counts only if its peer is a trusted proxy.
#pragma once

#include <memory>
#include <optional>

#include "katana/http/session/client.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "katana/net/reactor/connection.hpp"

namespace katana::session {

// REQUIRES connection.may_limit_requests(). `head`: null if it was refused. `trust`: null: no
// proxy's word counts.
std::optional<net::ClientPlace> begin_request(net::Connection& connection,
                                              const std::shared_ptr<const ProxyTrust>& trust,
                                              const http::Head* head) noexcept;

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
