// ContractRoutes: routes that an OpenAPI description adds. The description checks each request
// before the handler is called. The routes are for data that a program does not know as C++ types;
// described structs check themselves.
//
//   const auto contract = std::make_shared<const openapi::Contract>(
//       *openapi::Contract::compile(description));
//   openapi::ContractRoutes routes(router.group("/v1"), contract);
//   routes.operation("createUser", [](const RequestView& request) { … });    // its operationId
//
// Parameters that do not fit are answered with 400, and another media type with 415. Malformed
// content is answered with 400, and content that does not fit with 422 and all its faults. These
// are the problem documents of Path<T>, Query<T> and Json<T>. The handler is called with a request
// that fits, as it was sent.
//
// All checks of a request take steps from one budget (base/values/step_budget.hpp). A request that
// wants more is answered with 422, which names the limit, and recorded as a warning.
//
// With `replies` the replies of handlers are checked, too: reply_checks.hpp says which departures
// are reported. An Application does so where the setting requests.check_replies says it: in
// development.
//
// A handler that reads its content in pieces (ContentReader) gets it unchecked; only its media type
// is checked.
//
// Owns       the contract, shared.
// Thread     one while building; checks run on the reactors.
// Allocates  a check as Contract does, and the problem documents.
// Fails      Router::build(): for an operation that the description does not have, and for one that
//            is added twice. After require_all() also for operations without a route.
// Invariant  a handler sees only requests that obey the description.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/openapi/contract/contract.hpp"

namespace katana::openapi {
namespace detail {
class ReportedPlaces;
}

// The treatment of a reply that departs from the description.
enum class Replies : std::uint8_t {
  by_router,  // as Router::check_replies() says when the route is added: otherwise no check runs
  unchecked,  // and sent: it is not seen
  reported,   // and sent as it is
  refused,    // and 500 is sent instead
};

// The checks of replies, and the limit of all checks.
struct ValidationOptions {
  Replies replies = Replies::by_router;  // checks need ContractOptions::check_replies
  // As RouteDefaults::check_steps_max; none: as Router::defaults() says.
  std::optional<std::uint64_t> check_steps_max = {};
};

class ContractRoutes : private Group {
 public:
  ContractRoutes(Group group, std::shared_ptr<const Contract> contract,
                 ValidationOptions options = {});

  // Serves the operation of that id. `handler` is any that Group::route() takes.
  template <class F>
  ContractRoutes& operation(Bytes id, F handler, RouteOptions options = {}) {
    if constexpr (katana::detail::is_sound<katana::detail::handler_misuse<F>(), F>()) {
      serve(contract_->find_id(id), id, katana::detail::make_handler(std::move(handler)),
            katana::detail::traits_of<F>(), options);
    }
    return *this;
  }
  // The same for an operation without an id.
  template <class F>
  ContractRoutes& operation(http::Method method, Bytes path, F handler, RouteOptions options = {}) {
    if constexpr (katana::detail::is_sound<katana::detail::handler_misuse<F>(), F>()) {
      serve(find(method, path), path, katana::detail::make_handler(std::move(handler)),
            katana::detail::traits_of<F>(), options);
    }
    return *this;
  }
  // Operations that no handler serves yet, as "GET /users/{id}", in the order of the description.
  std::vector<std::string> unserved() const;
  // From here on, an unserved() operation is an error of Router::build(), with its name.
  ContractRoutes& require_all();
  // Unserved operations are checked and answered with 501.
  ContractRoutes& answer_rest();

 private:
  const ContractOperation* find(http::Method method, Bytes path) const noexcept;
  void serve(const ContractOperation* operation, Bytes asked,
             std::unique_ptr<katana::detail::Handler> handler, katana::detail::HandlerTraits traits,
             const RouteOptions& options);
  void refuse(std::string why);

  std::shared_ptr<const Contract> contract_;
  ValidationOptions options_;
  std::shared_ptr<std::set<const ContractOperation*>> served_;
  std::shared_ptr<detail::ReportedPlaces> places_;
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
