// HTTP servers: Router, handlers and their parameters, Reply, Request, Json, middleware and
// HttpServer.
//
//   int main() {
//     katana::Router router;
//     router.get("/", [] { return katana::Reply::text("Hello"); });
//     const auto service = std::move(router).build();
//     katana::server::HttpServer server({}, service.value());
//     if (server.start()) server.run();
//   }
//
// Links      http/server http/middleware
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/http/handlers/cookies.hpp"
#include "katana/http/handlers/file_reply.hpp"
#include "katana/http/handlers/from_request.hpp"
#include "katana/http/handlers/head_fields.hpp"
#include "katana/http/handlers/html.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/compression.hpp"
#include "katana/http/middleware/concurrency_limit.hpp"
#include "katana/http/middleware/cors.hpp"
#include "katana/http/middleware/load_shedding.hpp"
#include "katana/http/middleware/rate_limit.hpp"
#include "katana/http/server/http_server.hpp"

// SPDX-License-Identifier: Apache-2.0
