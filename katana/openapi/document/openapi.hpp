// OpenAPI 3.1: the description of a service, made from its handlers' signatures and from the
// structs that they take and return.
//
//   openapi::Document document({.title = "Shop", .version = "1.0"});
//   openapi::Routes api = document.describe(router.group("/api"));
//   api.get("/items/{id}", get_item, {.id = "getItem", .summary = "One item", .problems = {404}});
//   document.serve(router);   // GET /openapi.json
//
// Facts of the signature need no words. Path<T> and Query<T> are parameters with their types, rules
// and defaults. Json<T> is the content, with 413, 415 and 422; Json<T> and Created<T> are replies.
// Operation has the facts that the signature lacks (a handler that returns a Reply). Every
// problem is application/problem+json (RFC 9457). The requirements of the group's middleware
// (identity/auth) are in securitySchemes and in each operation, with 401 and 403.
//
//   schema.hpp         the JSON Schema of a type
//   operation.hpp      the description of a route: Operation, replies, examples, callbacks
//   document.hpp       Document: info, servers, tags, webhooks, audiences; its text
//   problem_types.hpp  the catalogue of problem types
//   routes.hpp         Routes: a group whose routes are described
//   docs_page.hpp      the document as a page to read and to try out
#pragma once

#include "katana/openapi/document/document.hpp"
#include "katana/openapi/document/operation.hpp"
#include "katana/openapi/document/problem_types.hpp"
#include "katana/openapi/document/routes.hpp"
#include "katana/openapi/document/schema.hpp"

// SPDX-License-Identifier: Apache-2.0
