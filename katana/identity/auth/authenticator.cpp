#include "katana/identity/auth/authenticator.hpp"

#include <algorithm>

#include "katana/base/system/check.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::auth {

Authentication first_of(std::vector<Authentication> all) {
  KATANA_REQUIRE(!all.empty());
  Authentication made;
  for (const Authentication& each : all) {
    made.authenticators_.insert(made.authenticators_.end(), each.authenticators_.begin(),
                                each.authenticators_.end());
  }
  return made;
}

std::expected<std::optional<Bytes>, Reply> only_field(const RequestView& request, Bytes name) {
  const http::Head& head = request.head();
  std::optional<Bytes> found;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (!http::equals_ignoring_case(head.name(index), name)) continue;
    if (found) {
      std::string words = "The request has more than one field ";
      return std::unexpected(
          problem(problem_types::malformed_credentials, words.append(name).append(".")));
    }
    found = head.value(index);
  }
  return found;
}

std::optional<Bytes> credentials_of(Bytes authorization, Bytes scheme) noexcept {
  const std::size_t end = std::min(authorization.find(' '), authorization.size());
  if (!http::equals_ignoring_case(authorization.substr(0, end), scheme)) return std::nullopt;
  authorization.remove_prefix(end);
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  return authorization;
}

std::string quoted_parameter(Bytes text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
