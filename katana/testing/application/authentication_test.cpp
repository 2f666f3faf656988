// A program whose users have tokens of an issuer, configured by its settings alone.
#include "katana/app/authentication.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/http/handlers/json.hpp"
#include "katana/identity/auth/policy.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/identity/jose/vectors_test.hpp"
#include "katana/testing/application/test_application.hpp"
#include "katana/testing/fake_upstream.hpp"

namespace katana::testing {
namespace {

using Program = app::Application<app::ApplicationSettings>;

void add_protected_routes(Program& app) {
  app.routes([](const registry::Services& services, Router& router) {
    auto& authentication = services.get<app::Authentication>();
    Group api = router.group("/api").deny_by_default();
    api.use(authentication.bearer());
    api.use(auth::require(auth::authenticated()));
    api.get("/me", [](FromContext<auth::Principal> who) { return Reply::text(Text(who->id())); });
    api.post("/logout", [&authentication](FromContext<auth::Principal> who) -> Result<Reply> {
      auto revoked = authentication.revocations().revoke_subject(
          who->issuer(), who->id(), current_time(),
          *who->facts().expires_at + std::chrono::hours(1));
      if (!revoked) return std::unexpected(revoked.error());
      return Reply::no_content();
    });
  });
}

TEST(ApplicationAuthentication, tokens_of_the_issuer_of_the_settings_say_who_asks) {
  TestApplication app({.name = "shop", .config_file = "/nonexistent/shop.yaml"},
                      add_protected_routes,
                      {.settings = {"auth.bearer.issuer=https://id.example",
                                    "auth.bearer.jwks_url=https://id.example/jwks"}});
  const jose::SigningKey key =
      *jose::read_private_jwk(jose::vectors::rfc8037_private, {jose::Algorithm::eddsa});
  FakeUpstream issuer(app, "https://id.example", [&](Router& router) {
    router.get("/jwks", [json = R"({"keys":[)" + key.verification_key().jwk() + "]}"] {
      return Reply::json(Text(json));
    });
  });
  const auto token =
      jose::sign_jwt(key, {.issuer = "https://id.example",
                           .subject = "ann",
                           .expires_at = app.loop().wall_time() + std::chrono::hours(1)});
  const TestFields fields = {{"Authorization", "Bearer " + *token}};
  const TestReply reply = app.get("/api/me", fields);
  EXPECT_EQ(reply.status(), 200U) << reply;
  EXPECT_EQ(reply.content(), "ann");
  EXPECT_EQ(app.get("/api/me").status(), 401U);
  EXPECT_EQ(app.post("/api/logout", "", fields).status(), 204U);
  EXPECT_EQ(app.get("/api/me", fields).status(), 401U);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
