#include "katana/identity/auth/optional.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/identity/auth/api_key.hpp"
#include "katana/identity/auth/policy.hpp"
#include "katana/identity/auth/token_fixture_test.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/openapi/document/openapi.hpp"

namespace katana::auth {
namespace {

using FoundOrNot = FromContext<std::optional<Principal>>;

Reply say_who_if_known(FoundOrNot who) { return Reply::text(Text(*who ? (*who)->id() : "nobody")); }

class OptionalTest : public TokenTest {
 protected:
  void serve_who(const Authentication& how) {
    serve([&](Group& api) { api.use(optional(how)).get("/who", &say_who_if_known); });
  }
};

TEST_F(OptionalTest, without_credentials_the_request_goes_on_without_a_principal) {
  serve_who(bearer(options()));
  const auto stranger = server->get("/api/who");
  EXPECT_EQ(stranger.status(), 200U);
  EXPECT_EQ(stranger.content(), "nobody");
  EXPECT_EQ(get("/api/who", token()).content(), "ann");
}

TEST_F(OptionalTest, what_differs_by_who_asks_is_not_for_caches) {
  serve_who(bearer(options()));
  EXPECT_EQ(server->get("/api/who").header("Cache-Control"), "no-store");
  EXPECT_EQ(get("/api/who", token()).header("Cache-Control"), "no-store");
}

TEST_F(OptionalTest, credentials_that_are_not_believed_are_refused_as_where_they_are_required) {
  serve_who(bearer(options()));
  jose::Claims old = claims();
  old.expires_at = now() - std::chrono::minutes(10);
  for (const std::string& text : {token(old), std::string("x"), token() + "x"}) {
    const auto reply = get("/api/who", text);
    EXPECT_EQ(reply.status(), 401U) << text;
    EXPECT_EQ(reply.header("WWW-Authenticate"), R"(Bearer error="invalid_token")");
  }
  const auto twice = server->get(
      "/api/who", {{"Authorization", "Bearer " + token()}, {"Authorization", "Bearer " + token()}});
  EXPECT_EQ(twice.status(), 400U);
  keys->withdraw();
  EXPECT_EQ(get("/api/who", token()).status(), 503U);
  EXPECT_EQ(server->get("/api/who").status(), 200U);
}

TEST_F(OptionalTest, credentials_that_are_looked_up_are_awaited) {
  const NewApiKey given = make_api_key("shop");
  serve_who(api_key({.find = [&](std::string prefix) -> Task<Result<std::optional<ApiKeyRecord>>> {
    co_await net::sleep_for(milliseconds(1));
    if (prefix != given.prefix) co_return std::nullopt;
    co_return ApiKeyRecord{.hash = given.hash, .id = "robot"};
  }}));
  const auto with = [&](std::string text) {
    return server->get("/api/who", {{"X-API-Key", std::move(text)}});
  };
  EXPECT_EQ(with(std::string(given.text.reveal())).content(), "robot");
  EXPECT_EQ(with("shop_1_" + std::string(64, '0')).status(), 401U);
  EXPECT_EQ(server->get("/api/who").content(), "nobody");
}

TEST_F(OptionalTest, a_route_that_needs_a_principal_does_not_build_behind_it) {
  Router policy;
  policy.use(optional(bearer(options()))).use(require(authenticated()));
  policy.get("/who", &say_who_if_known);
  EXPECT_FALSE(std::move(policy).build());
  Router handler;
  handler.use(optional(bearer(options()))).get("/who", [](FromContext<Principal> who) {
    return Reply::text(Text(who->id()));
  });
  EXPECT_FALSE(std::move(handler).build());
}

TEST_F(OptionalTest, a_document_says_that_credentials_may_be_left_out) {
  Router router;
  router.use(optional(bearer(options())));
  openapi::Document document({.title = "Shop", .version = "1"});
  document.describe(router).get("/who", &say_who_if_known, {.id = "who"});
  const std::string text = container::to_json(document.to_value());
  EXPECT_NE(text.find(R"("security":[{},{"bearer":[]}])"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("securitySchemes":{"bearer":)"), std::string::npos) << text;
  EXPECT_EQ(text.find(R"("securitySchemes":{"":)"), std::string::npos) << text;
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
