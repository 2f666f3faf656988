// Mock: a service that answers what an OpenAPI description says, before there is a program.
//
//   Result<openapi::Mock> mock = openapi::Mock::make(description, {.seed = 7});
//   mock->add_to(router);
//
// A request is checked first: what Contract refuses is answered as ContractRoutes would, one
// without the credentials that its operation asks for (present, not verified) with 401. Then the
// reply is that of the lowest status 2xx, or the one that the client prefers:
//
//   Prefer: code=404                 of that status
//   Prefer: example=empty            the example of that name
//   Prefer: dynamic=true             other data at each request, instead of examples
//   ?__code=404&__example=empty&__dynamic=true     the same, for browsers
//
// Content is the first media type that Accept takes: an example of it, else data drawn from its
// schema (schema::Sampler) by the seed and the request, so that the same request has the same
// reply.
//
// Owns       the description, shared by its copies.
// Thread     one while it is added; its handlers run on the reactors.
// Allocates  freely: it is no server for load.
// Fails      make() as Contract::compile(). A reply that cannot be drawn is 500 and says which.
// Invariant  a reply obeys the description, unless an example of it does not.
#pragma once

#include <cstdint>
#include <memory>

#include "katana/base/system/result.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// What a mock checks, and draws from.
struct MockOptions {
  std::uint64_t seed = 1;          // another draws other data
  bool checks_requests = true;     // false: what does not fit is answered as what does
  bool checks_credentials = true;  // false: no operation asks for any
  // Of a request, to check it and to draw its reply (base/values/step_budget.hpp): 422, 500 beyond
  // them.
  std::uint64_t steps_max = 8 * StepBudget::steps_default;
};

class Mock {
 public:
  // Compiles its own contract, which checks formats.
  static Result<Mock> make(Description description, const MockOptions& options = {});
  // All paths below the group's prefix.
  void add_to(Group group) const;
  std::size_t operation_count() const noexcept;

 private:
  struct State;
  explicit Mock(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
