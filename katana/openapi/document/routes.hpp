// Routes: a Group whose routes are described in one document or several as they are added.
//
//   openapi::Routes api = document.describe(router.group("/api")).tagged("items");
//   api.get("/items/{id}", get_item, {.id = "getItem", .summary = "One item", .problems = {404}});
//
// Owns       a share of its documents and of its group.
// Thread     one, while routes are added.
// Allocates  yes: at the start of a program.
// Fails      never: a route that does not build is the Router's to refuse, and an operation that
//            does not fit its signature as well.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/openapi/document/document.hpp"
#include "katana/openapi/document/signature.hpp"

namespace katana::openapi {

class Routes {
 public:
  Routes(Document document, Group group)
      : documents_{std::move(document)}, group_(std::move(group)) {}
  Routes(std::vector<Document> documents, Group group)
      : documents_(std::move(documents)), group_(std::move(group)) {}

  // A route for GET.
  template <class F>
  Routes& get(std::string_view pattern, F handler, const Operation& operation = {},
              RouteOptions options = {}) {
    return route(http::Method::get, pattern, std::move(handler), operation, options);
  }
  // A route for POST.
  template <class F>
  Routes& post(std::string_view pattern, F handler, const Operation& operation = {},
               RouteOptions options = {}) {
    return route(http::Method::post, pattern, std::move(handler), operation, options);
  }
  // A route for PUT.
  template <class F>
  Routes& put(std::string_view pattern, F handler, const Operation& operation = {},
              RouteOptions options = {}) {
    return route(http::Method::put, pattern, std::move(handler), operation, options);
  }
  // A route for PATCH.
  template <class F>
  Routes& patch(std::string_view pattern, F handler, const Operation& operation = {},
                RouteOptions options = {}) {
    return route(http::Method::patch, pattern, std::move(handler), operation, options);
  }
  template <class F>
  Routes& delete_(std::string_view pattern, F handler, const Operation& operation = {},
                  RouteOptions options = {}) {
    return route(http::Method::delete_, pattern, std::move(handler), operation, options);
  }

  // A route for any method, described and served.
  template <class F>
  Routes& route(http::Method method, std::string_view pattern, F handler,
                const Operation& operation, RouteOptions options = {}) {
    add(method, pattern, operation, &detail::words_of<F>);
    group_.route(method, pattern, std::move(handler), options);
    return *this;
  }

  // The same with a tag for each operation that has none.
  Routes tagged(std::string tag) const;
  // These two are like Group::group() and Group::anonymous().
  Routes group(std::string_view prefix) const;
  Routes anonymous() const;

 private:
  void add(http::Method method, std::string_view pattern, const Operation& operation,
           SignatureWords (*words)(Schemas&));

  std::vector<Document> documents_;
  Group group_;
  std::string tag_;
};

inline Routes Document::describe(Group group) { return Routes(*this, std::move(group)); }

// Routes that are in several documents, each as far as it is for its audience.
inline Routes describe(Group group, std::vector<Document> documents) {
  return Routes(std::move(documents), std::move(group));
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
