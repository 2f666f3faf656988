// FromRequest<T>: a type of your program as a parameter of handlers and of middleware.
//
//   template <>
//   struct katana::FromRequest<Page> {
//     static Result<Page> from(Query<PageQuery> query);
//   };
//
//   template <>
//   struct katana::FromRequest<Account> {
//     static Task<Result<Account>> from(Cookie<Session> cookies, Inject<Accounts> accounts);
//   };
//   router.get("/orders", [](Account account, Page page) { … });
//
// from() takes the parameters that a handler takes, except Path<T>, ContentReader and ReplyWriter.
// It reads path parameters by name (RequestView::parameters()). It returns T, Result<T>,
// Answer<T> or std::expected<T, Reply>, or a Task of one of them. The Reply is sent instead of
// calling the handler.
// A Task is awaited before the handler is called, also if the handler is no coroutine. It runs
// behind the middleware of the route, and before the body is read unless from() takes the body.
//
// OpenAPI lists the parameters of from() as those of the operation. The function
// `static void describe(openapi::SignatureWords& words)` may add to them.
//
// Thread     the reactor's.
// Allocates  a Task: its frame and its value, from the recycler.
// Fails      as a parameter does: the first one that cannot be made determines the reply.
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
