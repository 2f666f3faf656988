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
// Links      server service/middleware
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/server/http_server.hpp"
#include "katana/service/cookies.hpp"
#include "katana/service/file_reply.hpp"
#include "katana/service/from_request.hpp"
#include "katana/service/head_fields.hpp"
#include "katana/service/html.hpp"
#include "katana/service/json.hpp"
#include "katana/service/middleware/compression.hpp"
#include "katana/service/middleware/concurrency_limit.hpp"
#include "katana/service/middleware/cors.hpp"
#include "katana/service/middleware/load_shedding.hpp"
#include "katana/service/middleware/rate_limit.hpp"
#include "katana/service/reply.hpp"
#include "katana/service/request.hpp"
#include "katana/service/router.hpp"

// SPDX-License-Identifier: Apache-2.0
