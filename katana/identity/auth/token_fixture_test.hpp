// Helpers for tests of tokens: a key, an issuer, and a server with routes that return the
// principal.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "katana/http/handlers/router.hpp"
#include "katana/identity/auth/bearer.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::auth {

class TokenTest : public ::testing::Test {
 protected:
  static jose::SigningKey key_of(Bytes secret, std::string id = {}) {
    return *jose::SigningKey::from_secret(jose::Algorithm::hs256, secret, std::move(id));
  }
  BearerOptions options() {
    return {.keys = keys,
            .rules = {.issuers = {"https://id.example"}, .audiences = {"orders"}},
            .on_refused = [this](const jose::Refusal& refusal) { log.push_back(refusal); }};
  }
  // `add` gets the group of the routes below /api.
  template <class Add>
  void serve(Add add, testing::TestOptions how = {}) {
    Router router;
    Group api = router.group("/api");
    add(api);
    server = std::make_unique<testing::TestServer>(std::move(router).build(), std::move(how));
  }
  static Reply say_who(FromContext<Principal> who) {
    return Reply::text(name_of(who->method())).with("X-Who", who->id());
  }
  Timestamp now() { return std::chrono::floor<std::chrono::seconds>(server->loop().wall_time()); }
  jose::Claims claims() {
    return {.issuer = "https://id.example",
            .subject = "ann",
            .audiences = {"orders"},
            .id = "1",
            .expires_at = now() + std::chrono::minutes(10),
            .issued_at = now()};
  }
  std::string token(const jose::Claims& claims) { return *jose::sign_jwt(key, claims); }
  std::string token() { return token(claims()); }
  testing::TestReply get(std::string target, const std::string& token) {
    return server->get(target, {{"Authorization", "Bearer " + token}});
  }

  jose::SigningKey key = key_of("4f8a61c0d97be2350a6f18c4e7d29b53", "1");
  std::shared_ptr<TokenKeys> keys =
      std::make_shared<TokenKeys>(TokenKeys::Set{key.verification_key()});
  std::vector<jose::Refusal> log;
  std::unique_ptr<testing::TestServer> server;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
