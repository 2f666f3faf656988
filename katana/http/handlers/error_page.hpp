// The reply for a failure while a program is developed (Router::development()). Clients that accept
// HTML, such as browsers, get a page; all others get a problem document.
//
// Owns       nothing.
// Thread     the reactor's.
// Allocates  the reply.
// Fails      never.
// Invariant  values of the request and of the cause are escaped; the page runs no script and loads
//            nothing.
#pragma once

#include <string>

#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana::detail {

// `cause`: the chain of causes, which is not meant for users. If `request` is null, the reply is a
// problem document.
Reply error_page(session::Exchange& exchange, const RequestView* request, unsigned status,
                 const std::string& cause);

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
