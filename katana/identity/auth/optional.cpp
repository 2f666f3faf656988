#include "katana/identity/auth/optional.hpp"

#include <memory>
#include <utility>

#include "katana/identity/auth/identity_function.hpp"

namespace katana::auth {
namespace {

using Found = std::optional<Principal>;

class OptionalFunction final : public detail::IdentityFunction<Found> {
 public:
  using IdentityFunction::IdentityFunction;

 private:
  Progress without_credentials(katana::detail::RequestContext& context) const override {
    context.provide<Found>(Found());
    return Progress::goes_on;
  }
};

}  // namespace

Middleware optional(const Authentication& how) {
  Middleware made = how;
  SecurityDocumentation words = *made.security;
  words.schemes.insert(words.schemes.begin(), SecurityScheme{});  // unnamed: none is needed
  made.security = std::make_shared<const SecurityDocumentation>(std::move(words));
  made.function = std::make_shared<const OptionalFunction>(how.authenticators());
  return made;
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
