// Router: collects the routes of a service. build() makes an immutable Service of it.
//
//   Router router;
//   router.get("/hello/{name}", greet);
//   Group api = router.group("/api");
//   api.use(require_user);  // see middleware.hpp
//   api.post("/users", create_user);
//   Result<Service> service = std::move(router).build();
//
// Owns       handlers and middleware; the Service takes them over.
// Thread     one while building. A Service is shared by all reactors.
// Fails      build() reports every mistake of all calls, one a line. Examples are a malformed
//            pattern, a route given twice, and a handler that leaves a parameter of its pattern
//            unread. Others are a FromContext<T> that no middleware provides, and an Inject<T> that
//            is not registered.
// Invariant  the route that serves a request depends on how specific its pattern is, never on the
//            order of calls.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/files/file_options.hpp"
#include "katana/http/handlers/decompression.hpp"
#include "katana/http/handlers/from_request.hpp"
#include "katana/http/handlers/function_checks.hpp"
#include "katana/http/handlers/handler.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/route_defaults.hpp"
#include "katana/http/handlers/security.hpp"
#include "katana/http/handlers/websocket.hpp"

namespace katana {

struct ErrorForm;  // error_documents.hpp
namespace registry {
class Services;
}

// Options of one route that differ from RouteDefaults.
struct RouteOptions {
  // As in RouteDefaults; none: the value of Router::defaults() counts.
  std::optional<std::uint64_t> content_bytes_max = {};
  std::optional<std::uint64_t> streamed_bytes_max = {};
  // The time that the handler may take, with the middleware in front of it, and that a stream may
  // be silent. When it is over, the reply is 503, or a stream's connection is reset. The awaited
  // work is cancelled. 0: the value of HttpOptions::handler_timeout.
  Duration timeout = {};
};

// The treatment of a reply that does not match the OpenAPI description of its operation.
enum class ReplyChecks : std::uint8_t {
  off,     // no check
  report,  // it is sent, and each mismatch is reported once
  refuse,  // 500 is sent instead, and reported
};

// A description that a service publishes, such as an OpenAPI document.
struct ServiceDocument {
  std::string name = {};  // tells several documents apart: "public"
  std::string path = {};  // at which it is served; empty: it is not
  std::string text = {};  // JSON
};

class Service;

namespace detail {
// As a number of Path<> parameters: the handler reads them from the request by name.
inline constexpr std::size_t looks_up_by_name = SIZE_MAX;

// The facts about a route that the type of its handler gives.
struct HandlerTraits {
  std::size_t path_parameters = looks_up_by_name;
  std::vector<std::string> secret_parameters = {};
  std::vector<Need> needs = {};
  MiddlewareFunctions awaited = {};
};
template <class F>
HandlerTraits traits_of() {
  using Parameters = typename Signature<F>::Parameters;
  constexpr std::size_t paths = path_count<Parameters>;
  constexpr bool by_name =
      paths == 0 && (has_parameter<Parameters, RequestView> || has_parameter<Parameters, Request>);
  return {.path_parameters = by_name ? looks_up_by_name : paths,
          .secret_parameters = secret_parameters<Parameters>(),
          .needs = needs_of<Parameters>(),
          .awaited = awaited_of<Parameters>()};
}

struct BuiltService;
struct ServiceParts;
}  // namespace detail

// A prefix and the middleware that its routes share.
//
// Path<> parameters of a handler take those of the pattern from the left. A handler takes either
// all of them, or none. With none it reads them by name from a RequestView or Request. A pattern
// may have parameters that no handler takes, to the right of all others. Their names begin with
// '_': "/a/{id}/{_slug}".
class Group {
 public:
  // Applies to the routes of this group, and of groups made from it, that are added after this
  // call.
  Group& use(Middleware middleware);
  // Adds a function as middleware, with the parameters of a handler: see middleware.hpp. One that
  // returns an auth::Principal is of Phase::identity.
  template <class F>
    requires(!std::convertible_to<F, Middleware>)
  Group& use(F function) {
    return use(std::move(function), detail::phase_of<F>());
  }
  template <class F>
    requires(!std::convertible_to<F, Middleware>)
  Group& use(F function, Phase phase) {
    if constexpr (detail::is_sound<detail::middleware_misuse<F>(), F>()) {
      use_functions(detail::awaited_of<typename detail::Signature<F>::Parameters>(), phase);
      Middleware middleware;
      middleware.limits_work = detail::limits_work<F>;
      middleware.function = detail::make_middleware_function(std::move(function));
      middleware.phase = phase;
      use(std::move(middleware));
    }
    return *this;
  }
  Group group(std::string_view prefix) const;
  // A route that is added to this group from now on needs a policy (identity/auth/policy.hpp) or
  // anonymous(). Without one it is an error of build(). The same holds for groups made from this
  // one.
  Group& deny_by_default() noexcept {
    denies_by_default_ = true;
    return *this;
  }
  // The same group without authentication and policies, for routes that are open to all:
  // api.anonymous().post("/login", log_in).
  Group anonymous() const;
  // The security requirements of the group's middleware, outermost first.
  std::vector<const SecurityDocumentation*> security() const;
  // The headers and replies that the group's middleware documents for this method, outermost first.
  std::vector<const RequestDocumentation*> words(http::Method method) const;
  std::string_view prefix() const noexcept { return prefix_; }

  // Serves the pattern below the prefix with a function whose parameters the request fills. A
  // mistake in either is an error of Router::build(). GET serves HEAD, too.
  template <class F>
  Group& get(std::string_view pattern, F handler, RouteOptions options = {}) {
    return route(http::Method::get, pattern, std::move(handler), options);
  }
  template <class F>
  Group& post(std::string_view pattern, F handler, RouteOptions options = {}) {
    return route(http::Method::post, pattern, std::move(handler), options);
  }
  template <class F>
  Group& put(std::string_view pattern, F handler, RouteOptions options = {}) {
    return route(http::Method::put, pattern, std::move(handler), options);
  }
  template <class F>
  Group& patch(std::string_view pattern, F handler, RouteOptions options = {}) {
    return route(http::Method::patch, pattern, std::move(handler), options);
  }
  template <class F>
  Group& delete_(std::string_view pattern, F handler, RouteOptions options = {}) {
    return route(http::Method::delete_, pattern, std::move(handler), options);
  }
  // Serves every method that no other route of the pattern serves.
  template <class F>
  Group& any(std::string_view pattern, F handler, RouteOptions options = {}) {
    return route(std::nullopt, pattern, std::move(handler), options);
  }
  // Serves WebSocket connections under the pattern, which then serves no other GET: see
  // websocket.hpp. `make_handler` takes the parameters of a plain handler, and returns a
  // std::unique_ptr<WebSocketHandler>, or a Result of one.
  template <class F>
    requires(!std::convertible_to<F, WebSocketCallbacks>)
  Group& websocket(std::string_view pattern, F make_handler, WebSocketRules rules = {}) {
    static_assert(detail::MakesWebSocketHandlers<F>,
                  "what makes WebSocket handlers returns std::unique_ptr<WebSocketHandler> of some "
                  "kind, or a Result of that, and is no coroutine: wait in middleware");
    if constexpr (detail::MakesWebSocketHandlers<F>) {
      detail::HandlerTraits traits;
      if constexpr (!detail::TakesRequestView<F>) traits = detail::traits_of<F>();
      add(http::Method::get, pattern,
          std::make_unique<detail::WebSocketFactory<F>>(std::move(make_handler), std::move(rules)),
          std::move(traits), {});
    }
    return *this;
  }
  Group& websocket(std::string_view pattern, WebSocketCallbacks callbacks,
                   WebSocketRules rules = {}) {
    add(http::Method::get, pattern,
        detail::make_websocket_route(std::move(callbacks), std::move(rules)), {}, {});
    return *this;
  }
  template <class F>
  Group& route(std::optional<http::Method> method, std::string_view pattern, F handler,
               RouteOptions options = {}) {
    if constexpr (detail::is_sound<detail::handler_misuse<F>(), F>()) {
      add(method, pattern, detail::make_handler(std::move(handler)), detail::traits_of<F>(),
          options);
    }
    return *this;
  }

  // Adds a document about the service. build() calls `make` once every route is added, and reports
  // its Error as its own.
  Group& document(std::function<Result<ServiceDocument>()> make);
  // Whether a document was added.
  bool has_document() const noexcept;
  // build() calls it with all documents, once they are made.
  Group& on_documents(std::function<void(const std::vector<ServiceDocument>&)> tell);

  // The value given to Router::check_replies().
  ReplyChecks reply_checks() const noexcept;
  // The value given to Router::defaults().
  std::uint64_t check_steps_max() const noexcept;

  // Serves the files below `folder` at and below `prefix`. With files("/static", "public") GET and
  // HEAD of /static/site.css return public/site.css. build() fails if there is no such folder.
  Group& files(std::string_view prefix, const std::string& folder, FilesOptions options = {});

 protected:
  explicit Group(std::shared_ptr<detail::ServiceParts> parts) : parts_(std::move(parts)) {}
  // The implementation of get(), post() and the others. Without a method the route serves any.
  void add(std::optional<http::Method> method, std::string_view pattern,
           std::unique_ptr<detail::Handler> handler, detail::HandlerTraits traits,
           const RouteOptions& options);
  // The implementation of use(). `phase` is the place of the functions among the middleware.
  void use_functions(detail::MiddlewareFunctions functions, Phase phase);

  std::shared_ptr<detail::ServiceParts> parts_;
  std::string prefix_;
  std::vector<const Middleware*> middleware_;
  bool denies_by_default_ = false;
};

class Router : public Group {
 public:
  Router();
  // Shows clients the causes of failures: the whole chain of an error or exception, with SQL and
  // table names. A browser gets a page, any other client a problem document. Off unless it is
  // called.
  Router& development(bool on = true) noexcept;
  // Applies to routes that are added after this call. An Application passes http.routes.
  Router& defaults(const RouteDefaults& defaults) noexcept;
  // Adds one middleware behind that of every route that is added after this call. Its `after` and
  // `amend` are the first to see the replies of handlers. The last call counts.
  Router& innermost(Middleware middleware);
  // Sets the form of all error documents: of handlers, middleware, refusals and unknown paths; see
  // error_documents.hpp. The last call counts.
  Router& error_documents(ErrorForm form);
  // Applies to routes of openapi::ContractRoutes that are added after this call without this
  // setting. openapi::check_replies() covers the service's documents as well.
  Router& check_replies(ReplyChecks checks) noexcept;
  // Sets the services for Inject<T>; they outlive the Service. An Application calls it.
  Router& services(const registry::Services& services) noexcept;
  // Builds the Service. The Error has every mistake, one a line, with its routes.
  Result<Service> build() &&;
};

// An immutable service, shared by all reactors. Copies share it.
class Service {
 public:
  std::size_t route_count() const noexcept;  // routes of all groups
  // The mark of a route, by the order of registration. REQUIRES index < route_count().
  const session::RouteMark& mark(std::uint32_t index) const noexcept;
  // The documents in the order in which they were added.
  const std::vector<ServiceDocument>& documents() const noexcept;
  // For the dispatcher.
  const detail::BuiltService& built() const noexcept { return *built_; }

 private:
  friend class Router;
  explicit Service(std::shared_ptr<const detail::BuiltService> built) noexcept
      : built_(std::move(built)) {}

  std::shared_ptr<const detail::BuiltService> built_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
