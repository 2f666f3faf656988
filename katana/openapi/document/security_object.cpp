#include <algorithm>
#include <utility>

#include "katana/openapi/document/operation_object.hpp"

namespace katana::openapi::detail {
namespace {

// One object for each alternative. It has one scheme of every middleware that authenticates, with
// all scopes. A scheme without a name means that no credentials are needed (auth::optional()): {}.
List requirements_of(const std::vector<const SecurityDocumentation*>& security) {
  List scopes;
  for (const SecurityDocumentation* const each : security) {
    for (const std::string& scope : each->scopes) scopes.emplace_back(scope);
  }
  std::vector<Object> ways = {Object()};
  for (const SecurityDocumentation* const each : security) {
    if (each->schemes.empty()) continue;
    std::vector<Object> longer;
    for (const Object& way : ways) {
      for (const SecurityScheme& scheme : each->schemes) {
        longer.push_back(way);
        if (!scheme.name.empty()) longer.back().set(scheme.name, scopes);
      }
    }
    ways = std::move(longer);
  }
  return {ways.begin(), ways.end()};
}

Object flow_object(const OAuthFlow& flow) {
  Object made;
  const auto add = [&made](const char* name, const std::string& text) {
    if (!text.empty()) made.set(name, text);
  };
  add("authorizationUrl", flow.authorization_url);
  add("tokenUrl", flow.token_url);
  add("refreshUrl", flow.refresh_url);
  Object scopes;
  for (const auto& [name, description] : flow.scopes) scopes.set(name, description);
  made.set("scopes", std::move(scopes));
  return made;
}

constexpr const char* key_of(OAuthFlow::Kind kind) noexcept {
  switch (kind) {
    case OAuthFlow::Kind::authorization_code: return "authorizationCode";
    case OAuthFlow::Kind::client_credentials: return "clientCredentials";
    case OAuthFlow::Kind::implicit: return "implicit";
    case OAuthFlow::Kind::password: break;
  }
  return "password";
}

}  // namespace

Value scheme_object(const SecurityScheme& scheme) {
  using Kind = SecurityScheme::Kind;
  Object made;
  const auto key_in = [&](const char* place) {
    made = {{"type", "apiKey"}, {"in", place}, {"name", scheme.detail}};
  };
  switch (scheme.kind) {
    case Kind::http:
      made = {{"type", "http"}, {"scheme", scheme.detail}};
      if (!scheme.format.empty()) made.set("bearerFormat", scheme.format);
      break;
    case Kind::field: key_in("header"); break;
    case Kind::cookie: key_in("cookie"); break;
    case Kind::query: key_in("query"); break;
    case Kind::mutual_tls: made = {{"type", "mutualTLS"}}; break;
    case Kind::openid_connect:
      made = {{"type", "openIdConnect"}, {"openIdConnectUrl", scheme.detail}};
      break;
    case Kind::oauth2: {
      Object flows;
      for (const OAuthFlow& flow : scheme.flows) flows.set(key_of(flow.kind), flow_object(flow));
      made = {{"type", "oauth2"}, {"flows", std::move(flows)}};
      break;
    }
  }
  if (!scheme.description.empty()) made.set("description", scheme.description);
  return made;
}

void add_security(Parts& parts, Object& made,
                  const std::vector<const SecurityDocumentation*>& security) {
  bool authenticates = false;
  for (const SecurityDocumentation* const each : security) {
    for (const SecurityScheme& scheme : each->schemes) {
      if (scheme.name.empty()) continue;
      parts.security_schemes.insert_or_assign(scheme.name, scheme_object(scheme));
      authenticates = true;
    }
  }
  if (authenticates) made.set("security", requirements_of(security));
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
