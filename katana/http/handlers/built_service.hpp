// ServiceParts: the routes and middleware that a Router collects. BuiltService: the result of
// build(). The dispatcher reads them. They are not in router.hpp, which every program includes.
//
// Owns       handlers, middleware and the table of routes.
// Borrows    the services, which outlive it.
// Thread     one while building; a BuiltService does not change, and all reactors share it.
// Allocates  while building.
// Fails      build() returns all mistakes.
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
  std::deque<Middleware> middleware;  // routes point to its elements
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
  // Used when no route matches: the middleware of the whole router for 404 and the like.
  Route fallback = {};

  const Route& route(std::uint32_t index) const noexcept { return parts->routes[index]; }
};

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
