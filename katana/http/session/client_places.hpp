// Counts a request in ClientLimits. It counts for the address of the connection, or, if that is a
// trusted proxy for HTTP, for the client that the head names.
//
// Borrows    its arguments for the call.
// Thread     the connection's.
// Allocates  never.
// Fails      empty: the maximum of requests is in progress; counted.
// Invariant  a claim about the client in a request counts only if a trusted proxy sent it.
#pragma once

#include <memory>
#include <optional>

#include "katana/http/session/client.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "katana/net/reactor/connection.hpp"

namespace katana::session {

// REQUIRES connection.may_limit_requests(). `head`: null if it was refused. `trust`: null: no proxy
// is trusted.
std::optional<net::ClientPlace> begin_request(net::Connection& connection,
                                              const std::shared_ptr<const ProxyTrust>& trust,
                                              const http::Head* head) noexcept;

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
