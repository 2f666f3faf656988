#include "katana/identity/auth/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "katana/identity/auth/token_fixture_test.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/openapi/document/openapi.hpp"

namespace katana::auth {
namespace {

Principal person(std::vector<std::string> roles, std::vector<std::string> scopes = {}) {
  return Principal({.id = "ann", .roles = std::move(roles), .scopes = std::move(scopes)});
}

TEST(Policy, roles_scopes_and_claims_are_looked_for) {
  EXPECT_TRUE(role("admin").allows(person({"staff", "admin"})));
  EXPECT_FALSE(role("admin").allows(person({"administrator"})));
  EXPECT_TRUE(scope("read").allows(person({}, {"read"})));
  EXPECT_FALSE(scope("read").allows(person({"read"})));
  EXPECT_TRUE(authenticated().allows(person({})));
  PrincipalFacts facts = {.id = "ann", .claims = {{"tenant", "a"}}};
  EXPECT_TRUE(claim("tenant", "a").allows(Principal(facts)));
  EXPECT_FALSE(claim("tenant", "b").allows(Principal(facts)));
  EXPECT_FALSE(claim("team", "a").allows(Principal(facts)));
}

TEST(Policy, policies_combine) {
  const Policy policy = all_of({any_of({role("a"), role("b")}), not_(role("c"))});
  EXPECT_EQ(policy.words(), "((role 'a' or role 'b') and not role 'c')");
  EXPECT_TRUE(policy.allows(person({"a"})));
  EXPECT_TRUE(policy.allows(person({"b"})));
  EXPECT_FALSE(policy.allows(person({"b", "c"})));
  EXPECT_FALSE(policy.allows(person({})));
}

TEST(Policy, what_it_asks_for_in_any_case_are_the_scopes_that_it_names) {
  EXPECT_EQ(all_of({scope("a"), scope("b"), role("c")}).scopes(),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(any_of({scope("a"), scope("b")}).scopes().empty());
  EXPECT_TRUE(not_(scope("a")).scopes().empty());
}

struct Document {
  std::string owner;
};

class PolicyTest : public TokenTest {
 protected:
  static bool owns(const Principal& who, const Document& document) {
    return who.id() == document.owner;
  }
  static Task<bool> owns_later(const Principal& who, const Document& document) {
    const bool is_owner = owns(who, document);
    co_await net::sleep_for(milliseconds(5));
    co_return is_owner;
  }
};

TEST_F(PolicyTest, nobody_is_401_and_the_wrong_one_403) {
  serve([&](Group& api) {
    api.deny_by_default().use(bearer(options()));
    Group admin = api.group("/admin");
    admin.use(require(role("admin"))).get("/x", &say_who);
  });
  EXPECT_EQ(server->get("/api/admin/x").status(), 401U);
  const auto reply = get("/api/admin/x", token());
  EXPECT_EQ(reply.status(), 403U) << reply;
  EXPECT_EQ(reply.header("WWW-Authenticate"), std::nullopt);
  EXPECT_EQ(reply.header("Cache-Control"), "no-store");
  auto admins = claims();
  admins.others = {{"roles", container::List{"admin"}}};
  EXPECT_EQ(get("/api/admin/x", token(admins)).status(), 200U);
}

TEST_F(PolicyTest, a_token_that_lacks_a_scope_is_told_which) {
  serve([&](Group& api) {
    api.use(bearer(options()));
    api.use(require(all_of({scope("read"), scope("write")}))).get("/x", &say_who);
  });
  auto reader = claims();
  reader.others = {{"scope", "read"}};
  const auto reply = get("/api/x", token(reader));
  EXPECT_EQ(reply.status(), 403U);
  EXPECT_EQ(reply.header("WWW-Authenticate"),
            R"(Bearer error="insufficient_scope", scope="read write")");
}

TEST_F(PolicyTest, a_token_of_another_scheme_that_lacks_a_scope_is_told_so_by_its_scheme) {
  BearerOptions token_options = options();
  token_options.scheme = "Token";
  serve([&](Group& api) {
    api.use(bearer(std::move(token_options)));
    api.use(require(scope("write"))).get("/x", &say_who);
  });
  const auto reply = server->get("/api/x", {{"Authorization", "Token " + token()}});
  EXPECT_EQ(reply.status(), 403U);
  EXPECT_EQ(reply.header("WWW-Authenticate"), R"(Token error="insufficient_scope", scope="write")");
}

TEST_F(PolicyTest, a_policy_without_a_principal_in_front_of_it_does_not_build) {
  Router router;
  router.use(require(role("admin"))).get("/x", [] { return Reply(204); });
  const auto built = std::move(router).build();
  ASSERT_FALSE(built);
  EXPECT_TRUE(built.error().describe().contains("Principal")) << built.error().describe();
}

// RFC 6750 §3: the name stands in a quoted string of the challenge, and spaces divide names.
TEST_F(PolicyTest, a_scope_that_a_challenge_cannot_name_does_not_build) {
  const auto mistake_with = [this](const Policy& policy) {
    Router router;
    router.use(bearer(options())).use(require(policy)).get("/", [] { return Reply(204); });
    const auto service = std::move(router).build();
    return service ? std::string() : service.error().describe();
  };
  for (const std::string name : {"", "a b", "a\"b", "a\\b", "a\tb", "a\x7f", "caf\xc3\xa9"}) {
    for (const Policy& policy : {scope(name), not_(scope(name)), any_of({role("x"), scope(name)}),
                                 all_of({role("x"), scope(name)})}) {
      EXPECT_THAT(mistake_with(policy), ::testing::HasSubstr("RFC 6749")) << name;
    }
  }
  EXPECT_EQ(mistake_with(scope("!#[]^~a:b/c")), "");
}

TEST_F(PolicyTest, a_resource_has_a_policy_of_its_own) {
  serve([&](Group& api) {
    api.use(bearer(options()));
    api.get("/{owner}", [](Path<std::string> owner, FromContext<Principal> who) -> Task<Reply> {
      const Document document{*owner};
      auto allowed = co_await authorize(*who, document, &owns_later);
      if (!allowed) co_return std::move(allowed.error());
      co_return Reply::text("fine");
    });
    api.get("/hidden/{owner}",
            [](Path<std::string> owner, FromContext<Principal> who) -> Task<Reply> {
              const Document document{*owner};
              auto allowed = co_await authorize(*who, document, &owns, Denial::not_found);
              if (!allowed) co_return std::move(allowed.error());
              co_return Reply::text("fine");
            });
  });
  EXPECT_EQ(get("/api/ann", token()).status(), 200U);
  EXPECT_EQ(get("/api/bob", token()).status(), 403U);
  EXPECT_EQ(get("/api/hidden/ann", token()).status(), 200U);
  EXPECT_EQ(get("/api/hidden/bob", token()).status(), 404U);
}

TEST_F(PolicyTest, OpenAPI_has_schemes_scopes_and_refusals) {
  Router router;
  Group api = router.group("/api");
  api.use(bearer(options()));
  api.use(require(scope("read")));
  openapi::Document document({.title = "Shop", .version = "1"});
  document.describe(api).get("/x", &say_who);
  const std::string json = document.to_json();
  EXPECT_TRUE(json.contains(
      R"("securitySchemes":{"bearer":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}})"))
      << json;
  EXPECT_TRUE(json.contains(R"("security":[{"bearer":["read"]}])")) << json;
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
