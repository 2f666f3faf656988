// call(): runs a handler, plain, coroutine or streaming, on a TestRequest, without a router.
//
//   TestReply reply = testing::call(show_user, testing::TestRequest("GET", "/users/7"));
//   reply = testing::call(whoami, testing::TestRequest().with(User{7}));     // FromContext<User>
//   reply = testing::call(create, testing::TestRequest("POST", "/users").json(NewUser{"ada"}),
//                         {.services = &services});                          // Inject<Users>
//
// Everything that a handler may take is made like on a server: extractors, FromRequest<T>, whole
// content, streams. It runs in virtual time: a sleep passes at once.
//
// Owns       a server for the call.
// Borrows    the services.
// Thread     one; the handler runs on it, within the call.
// Allocates  freely: a test's tool.
// Fails      by the reply: a problem names the mistake in the request or the handler.
#pragma once

#include <type_traits>
#include <utility>

#include "katana/base/registry/services.hpp"
#include "katana/testing/test_request.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {

// The environment of a handler, besides its request.
struct CallOptions {
  const registry::Services* services = nullptr;  // of Inject<T>
  RouteOptions route = {};                       // timeouts and limits of the route
  TestOptions test = {};                         // limits of the test
};

namespace detail {

TestReply run_call(Router router, const TestRequest& request, const CallOptions& options);
TestReply failed_call(const Error& error);

}  // namespace detail

template <class F>
TestReply call(F handler, const TestRequest& request = TestRequest(),
               const CallOptions& options = {}) {
  using Function = std::decay_t<F>;
  constexpr std::size_t paths =
      katana::detail::path_count<typename katana::detail::Signature<Function>::Parameters>;
  const Result<std::string> pattern = request.route_pattern(paths);
  if (!pattern) return detail::failed_call(pattern.error());
  Router router;
  if (options.services != nullptr) router.services(*options.services);
  for (const auto& provide : request.providers()) provide(router);
  router.any(*pattern, Function(std::move(handler)), options.route);
  return detail::run_call(std::move(router), request, options);
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
