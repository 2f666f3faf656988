// FromRequest<T>: a type of the program's own as a parameter of handlers and of middleware.
//
//   template <>
//   struct katana::FromRequest<Page> {
//     static Result<Page> from(Query<PageQuery> query);
//   };
//   template <>
//   struct katana::FromRequest<Account> {
//     static Task<Result<Account>> from(Cookie<Session> cookies, Inject<Accounts> accounts);
//   };
//   router.get("/orders", [](Account account, Page page) { … });
//
// from() takes what a handler takes, but for Path<T>, ContentReader and ReplyWriter: it asks for
// path parameters by name (RequestView::parameters()). It returns T, Result<T> or
// std::expected<T, Reply>, whose Reply answers instead of the handler, or a Task of one of them. A
// Task is awaited before the handler is called, whichever form that has, and before its content is
// asked for unless from() takes some; behind the middleware of the route.
//
// OpenAPI has the parameters of from() as those of the operation, and what
// `static void describe(openapi::SignatureWords& words)` adds to them, if there is one.
//
// Thread     the reactor's.
// Allocates  a Task: its frame and its value, from the recycler.
// Fails      as a parameter does: the first that cannot be made answers.
#pragma once

#include <memory>
#include <vector>

#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/parameters.hpp"

namespace katana::detail {

using MiddlewareFunctions = std::vector<std::shared_ptr<const MiddlewareFunction>>;

// The functions that await parameters of a list, in the order in which they run.
template <class Parameters>
struct AwaitedOf;
template <class P>
void add_awaited(MiddlewareFunctions& functions) {
  if constexpr (ByFromRequest<P>) {
    static_assert(path_count<typename FromSignature<P>::Parameters> == 0,
                  "FromRequest<T>::from() asks RequestView::parameters() for path parameters");
    AwaitedOf<typename FromSignature<P>::Parameters>::add_to(functions);
    if constexpr (is_awaited<P>) {
      functions.push_back(make_middleware_function<Awaited<P>>(&FromRequest<P>::from));
    }
  }
}
template <class... P>
struct AwaitedOf<std::tuple<P...>> {
  static void add_to(MiddlewareFunctions& functions) { (add_awaited<P>(functions), ...); }
};
template <class Parameters>
MiddlewareFunctions awaited_of() {
  MiddlewareFunctions functions;
  AwaitedOf<Parameters>::add_to(functions);
  return functions;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
