#include "katana/identity/auth/identity_function.hpp"

#include <string>

#include "katana/http/handlers/framework_problems.hpp"

namespace katana::auth {
namespace {

using katana::detail::RequestContext;

class AuthenticationFunction final : public detail::IdentityFunction<Principal> {
 public:
  using IdentityFunction::IdentityFunction;

 private:
  Progress without_credentials(RequestContext& context) const override {
    context.answer = unidentified();
    return Progress::answered;
  }

  Reply unidentified() const {
    Reply reply = problem(problem_types::login_needed, "Credentials are needed.");
    for (const auto& each : authenticators()) {
      if (const std::string challenge = each->challenge(); !challenge.empty()) {
        reply.add_field("WWW-Authenticate", challenge);
      }
    }
    return reply;
  }
};

}  // namespace

Authentication::operator Middleware() const {
  SecurityDocumentation words;
  std::string mistake;
  for (const auto& each : authenticators_) {
    words.schemes.push_back(each->scheme());
    if (mistake.empty()) mistake = each->mistake();
  }
  return {.mistake = std::move(mistake),
          .security = std::make_shared<const SecurityDocumentation>(std::move(words)),
          .function = std::make_shared<const AuthenticationFunction>(authenticators_),
          .phase = Phase::identity};
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
