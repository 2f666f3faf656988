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
// Links      http/server http/middleware http/events http/forms http/files
#pragma once

#include "katana/http/events/events.hpp"
#include "katana/http/files/file_options.hpp"
#include "katana/http/forms/form.hpp"
#include "katana/http/forms/form_fields.hpp"
#include "katana/http/forms/nested_form.hpp"
#include "katana/http/handlers/accept.hpp"
#include "katana/http/handlers/answer.hpp"
#include "katana/http/handlers/cookies.hpp"
#include "katana/http/handlers/file_reply.hpp"
#include "katana/http/handlers/from_request.hpp"
#include "katana/http/handlers/head_fields.hpp"
#include "katana/http/handlers/html.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/json_stream.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/security.hpp"
#include "katana/http/handlers/streaming.hpp"
#include "katana/http/middleware/cache_control.hpp"
#include "katana/http/middleware/compression.hpp"
#include "katana/http/middleware/concurrency_limit.hpp"
#include "katana/http/middleware/cors.hpp"
#include "katana/http/middleware/csrf.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/http/middleware/load_shedding.hpp"
#include "katana/http/middleware/rate_limit.hpp"
#include "katana/http/middleware/security_headers.hpp"
#include "katana/http/server/access_log.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/operations.hpp"

// SPDX-License-Identifier: Apache-2.0
