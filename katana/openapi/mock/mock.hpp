// Mock: a service that answers by an OpenAPI description, before there is a program.
//
//   Result<openapi::Mock> mock = openapi::Mock::make(description, {.seed = 7});
//   mock->add_to(router);
//
// A request is checked first. If Contract refuses it, the answer is that of ContractRoutes. A
// request without the credentials that its operation asks for is answered with 401. Credentials
// need only be present; they are not verified. Then the reply is that of the lowest status 2xx, or
// the one that the client prefers:
//
//   Prefer: code=404                 of that status
//   Prefer: example=empty            the example of that name
//   Prefer: dynamic=true             other data at each request, instead of examples
//   ?__code=404&__example=empty&__dynamic=true     the same, for browsers
//
// Content has the first media type that Accept takes: an example of it, or else data drawn from its
// schema (schema::Sampler). The seed and the request decide the data: the same request has the same
// reply.
//
// Owns       the description, shared by its copies.
// Thread     one while it is added; its handlers run on the reactors.
// Allocates  freely: it is no server for load.
// Fails      make() as Contract::compile(). A reply that cannot be drawn is 500, which names it.
// Invariant  a reply obeys the description, unless an example of it does not.
#pragma once

#include <cstdint>
#include <memory>

#include "katana/base/system/result.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// The checks of a mock, and the limits of its data.
struct MockOptions {
  std::uint64_t seed = 1;          // another draws other data
  bool checks_requests = true;     // false: a request that does not fit is answered as if it did
  bool checks_credentials = true;  // false: no operation asks for any
  // The steps of a request, to check it and to draw its reply (base/values/step_budget.hpp). Beyond
  // them a check answers 422, and drawing 500.
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
