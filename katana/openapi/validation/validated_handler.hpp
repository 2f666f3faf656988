// ValidatedHandler: a handler behind the check of its operation. A request that does not fit is
// answered by a Reply, as Path<T>, Query<T> and Json<T> would answer it.
//
// Owns       the handler, and a share of the contract.
// Thread     the reactor's; one object serves all.
// Allocates  as the check; the reply.
// Fails      never.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "katana/base/values/step_budget.hpp"
#include "katana/http/handlers/handler.hpp"
#include "katana/openapi/contract/contract.hpp"

namespace katana::openapi::detail {

class ValidatedHandler final : public katana::detail::Handler {
 public:
  ValidatedHandler(std::unique_ptr<katana::detail::Handler> inner,
                   std::shared_ptr<const Contract> contract, const ContractOperation& operation,
                   std::uint64_t steps_max);

  std::string mistake() const override { return inner_->mistake(); }
  void serve(session::Exchange& exchange, const katana::detail::Route& route,
             const RequestView& request) const override;

 private:
  std::unique_ptr<katana::detail::Handler> inner_;
  std::shared_ptr<const Contract> contract_;
  const ContractOperation& operation_;
  const std::uint64_t steps_max_;
};

// REQUIRES violations of a request. A check that was given up because the budget is spent is
// 422, for any part of the request.
Reply refusal_of(const ContractOperation& operation, const Violations& violations,
                 const StepBudget& budget);

// The words for a check that was given up, with the limit by its name.
std::string words_of_spent(const StepBudget& budget);

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
