#include "katana/openapi/validation/contract_routes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/openapi/validation/reply_checks.hpp"
#include "katana/openapi/validation/validated_handler.hpp"

namespace katana::openapi {
namespace {

ReplyChecks checks_of(Replies replies, const Group& group) noexcept {
  switch (replies) {
    case Replies::by_router: return group.reply_checks();
    case Replies::unchecked: return ReplyChecks::off;
    case Replies::reported: return ReplyChecks::report;
    case Replies::refused: return ReplyChecks::refuse;
  }
  return ReplyChecks::off;
}

}  // namespace

ContractRoutes::ContractRoutes(Group group, std::shared_ptr<const Contract> contract,
                               ValidationOptions options)
    : Group(std::move(group)),
      contract_(std::move(contract)),
      options_(options),
      served_(std::make_shared<std::set<const ContractOperation*>>()),
      places_(std::make_shared<detail::ReportedPlaces>()) {}

const ContractOperation* ContractRoutes::find(http::Method method, Bytes path) const noexcept {
  const auto operations = contract_->operations();
  const auto found = std::ranges::find_if(operations, [&](const ContractOperation& each) {
    return each.path() == path && http::method_from(each.method()) == method;
  });
  return found == operations.end() ? nullptr : &*found;
}

void ContractRoutes::refuse(std::string why) { use({.mistake = std::move(why)}); }

void ContractRoutes::serve(const ContractOperation* operation, Bytes asked,
                           std::unique_ptr<katana::detail::Handler> handler,
                           katana::detail::HandlerTraits traits, const RouteOptions& options) {
  if (operation == nullptr) {
    refuse(fmt::format("the OpenAPI description has no operation '{}'", asked));
    return;
  }
  if (!served_->insert(operation).second) {
    refuse(fmt::format("the operation '{}' is served twice", asked));
    return;
  }
  ContractRoutes route(*this);
  const std::uint64_t steps_max = options_.check_steps_max.value_or(check_steps_max());
  if (const ReplyChecks checks = checks_of(options_.replies, *this); checks != ReplyChecks::off) {
    route.use(detail::reply_check(contract_, *operation, {checks, steps_max}, places_));
  }
  route.add(http::method_from(operation->method()), operation->path(),
            std::make_unique<detail::ValidatedHandler>(std::move(handler), contract_, *operation,
                                                       steps_max),
            std::move(traits), options);
}

std::vector<std::string> ContractRoutes::unserved() const {
  std::vector<std::string> names;
  for (const ContractOperation& each : contract_->operations()) {
    if (!served_->contains(&each)) names.push_back(each.describe());
  }
  return names;
}

ContractRoutes& ContractRoutes::require_all() {
  for (const std::string& name : unserved()) {
    refuse(fmt::format("no handler serves the operation '{}' of the OpenAPI description", name));
  }
  return *this;
}

ContractRoutes& ContractRoutes::answer_rest() {
  for (const ContractOperation& each : contract_->operations()) {
    if (served_->contains(&each)) continue;
    serve(&each, each.path(), katana::detail::make_handler([](const RequestView&) {
      return problem(problem_types::not_implemented,
                     "This operation is described, and not served yet.");
    }),
          {}, {});
  }
  return *this;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
