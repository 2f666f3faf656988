// ServiceParts and BuiltService: what a Router gathers, and what build() makes of it. Apart from
// router.hpp, which every program includes: the dispatcher reads them.
//
// Owns       handlers, middleware and the table of routes.
// Borrows    the services, which outlive it.
// Thread     one while building; a BuiltService does not change, and all reactors share it.
// Allocates  while building.
// Fails      build() has all mistakes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/handler.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/route_defaults.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/routing/route_table_builder.hpp"

namespace katana::detail {

struct ServiceParts {
  RouteTableBuilder table;
  std::vector<Route> routes;
  std::deque<Middleware> middleware;  // whose elements routes point to
  std::vector<Error> mistakes;
  std::vector<std::function<Result<ServiceDocument>()>> make_documents;
  std::vector<ServiceDocument> documents;
  std::vector<std::function<void(const std::vector<ServiceDocument>&)>> on_documents;
  const registry::Singletons* services = nullptr;
  bool development = false;
  RouteDefaults defaults;
  const Middleware* innermost = nullptr;        // one of the above
  const Middleware* error_documents = nullptr;  // likewise
  ReplyChecks reply_checks = ReplyChecks::off;
};

struct BuiltService {
  RouteTable table;
  std::shared_ptr<const ServiceParts> parts;
  // Stands for no route: what middleware of the whole router adds to 404 and its like.
  Route fallback = {};

  const Route& route(std::uint32_t index) const noexcept { return parts->routes[index]; }
};

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
