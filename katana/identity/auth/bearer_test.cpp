#include "katana/identity/auth/bearer.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/identity/auth/token_fixture_test.hpp"

namespace katana::auth {
namespace {

using container::List;
using container::Object;

class BearerTest : public TokenTest {
 protected:
  void serve_with(BearerOptions options) {
    serve([&](Group& api) {
      api.use(bearer(std::move(options)));
      api.get("/who", &say_who);
      api.get("/cached", [](FromContext<Principal>) {
        return Reply::text("x").with("Cache-Control", "private, max-age=60");
      });
    });
  }
};

TEST_F(BearerTest, a_token_says_who_asks) {
  serve_with(options());
  const auto reply = get("/api/who", token());
  EXPECT_EQ(reply.status(), 200U) << reply;
  EXPECT_EQ(reply.content(), "token");
  EXPECT_EQ(reply.header("X-Who"), "ann");
}

TEST_F(BearerTest, a_reply_to_somebody_is_not_for_caches_unless_the_handler_says_so) {
  serve_with(options());
  EXPECT_EQ(get("/api/who", token()).header("Cache-Control"), "no-store");
  EXPECT_EQ(get("/api/cached", token()).header("Cache-Control"), "private, max-age=60");
  EXPECT_EQ(get("/api/who", "x").header("Cache-Control"), "no-store") << "nor is a refusal";
}

TEST_F(BearerTest, without_a_token_the_scheme_is_named_and_no_error) {
  serve_with(options());
  const auto reply = server->get("/api/who");
  EXPECT_EQ(reply.status(), 401U);
  EXPECT_EQ(reply.header("WWW-Authenticate"), R"(Bearer realm="restricted")");
  EXPECT_EQ(server->get("/api/who", {{"Authorization", "Basic YTpi"}}).status(), 401U);
  EXPECT_TRUE(log.empty());
}

TEST_F(BearerTest, the_realm_is_named_where_there_is_one) {
  auto given = options();
  given.realm = "the \"shop\"";
  serve_with(given);
  EXPECT_EQ(server->get("/api/who").header("WWW-Authenticate"), R"(Bearer realm="the \"shop\"")");
  EXPECT_EQ(get("/api/who", "x").header("WWW-Authenticate"),
            R"(Bearer realm="the \"shop\"", error="invalid_token")");
}

TEST_F(BearerTest, a_token_that_is_not_believed_is_told_nothing_and_logged) {
  serve_with(options());
  auto old = claims();
  old.expires_at = now() - std::chrono::minutes(1);
  auto other = claims();
  other.audiences = {"files"};
  for (const std::string& wrong : {token(old), token(other), token() + "x", std::string("x"),
                                   std::string("a b"), std::string("\"x\"")}) {
    const auto reply = get("/api/who", wrong);
    EXPECT_EQ(reply.status(), 401U);
    EXPECT_EQ(reply.header("WWW-Authenticate"), R"(Bearer error="invalid_token")");
    EXPECT_EQ(reply.content(), get("/api/who", "x").content());
  }
  ASSERT_GE(log.size(), 3U);
  EXPECT_EQ(log[0].reason, jose::Reason::expired);
  EXPECT_EQ(log[2].reason, jose::Reason::wrong_audience);
}

TEST_F(BearerTest, the_scheme_is_read_in_any_case) {
  serve_with(options());
  EXPECT_EQ(server->get("/api/who", {{"authorization", "bEARER  " + token()}}).status(), 200U);
}

TEST_F(BearerTest, another_scheme_is_read_and_asked_for_in_the_place_of_bearer) {
  BearerOptions token_options = options();
  token_options.scheme = "Token";
  serve_with(std::move(token_options));
  EXPECT_EQ(server->get("/api/who", {{"Authorization", "Token " + token()}}).status(), 200U);
  EXPECT_EQ(server->get("/api/who", {{"Authorization", "token " + token()}}).status(), 200U);
  const auto refused = get("/api/who", token());
  EXPECT_EQ(refused.status(), 401U);
  EXPECT_EQ(refused.header("WWW-Authenticate"), R"(Token realm="restricted")");
  EXPECT_EQ(server->get("/api/who", {{"Authorization", "Token x"}}).header("WWW-Authenticate"),
            "Token error=\"invalid_token\"");
  Router router;
  router.use(bearer({.keys = keys, .scheme = "a token"}));
  EXPECT_EQ(std::move(router).build().error().describe(),
            "bearer() has a scheme that is no token (RFC 9110 §11.1): \"Bearer\", \"Token\"");
}

TEST_F(BearerTest, two_ways_to_give_a_token_are_an_invalid_request) {
  serve_with(options());
  const std::string good = token();
  const auto reply = get("/api/who?access_token=" + good, good);
  EXPECT_EQ(reply.status(), 400U);
  EXPECT_EQ(reply.header("WWW-Authenticate"), R"(Bearer error="invalid_request")");
  const auto twice = server->get(
      "/api/who", {{"Authorization", "Bearer " + good}, {"Authorization", "Bearer " + good}});
  EXPECT_EQ(twice.status(), 400U);
  // A token in the query is ignored.
  EXPECT_EQ(server->get("/api/who?access_token=" + good).status(), 401U);
}

TEST_F(BearerTest, a_kept_token_ends_with_its_time) {
  serve_with(options());
  const std::string good = token();
  EXPECT_EQ(get("/api/who", good).status(), 200U);
  server->advance(seconds(10 * 60 + 28));
  EXPECT_EQ(get("/api/who", good).status(), 200U);  // within the leeway
  server->advance(seconds(3));
  EXPECT_EQ(get("/api/who", good).status(), 401U);
  EXPECT_EQ(log.back().reason, jose::Reason::expired);
}

TEST_F(BearerTest, a_kept_token_ends_with_its_key) {
  serve_with(options());
  const std::string good = token();
  EXPECT_EQ(get("/api/who", good).status(), 200U);
  const auto next = key_of("fedcba9876543210fedcba9876543210", "2");
  keys->replace({next.verification_key()});
  EXPECT_EQ(get("/api/who", good).status(), 401U);
  EXPECT_EQ(log.back().reason, jose::Reason::unknown_key);
  keys->replace({next.verification_key(), key.verification_key()});
  EXPECT_EQ(get("/api/who", good).status(), 200U);
}

TEST_F(BearerTest, without_keys_nobody_is_judged) {
  serve_with(options());
  const std::string good = token();
  EXPECT_EQ(get("/api/who", good).status(), 200U);
  keys->withdraw();
  const auto reply = get("/api/who", good);
  EXPECT_EQ(reply.status(), 503U);
  EXPECT_EQ(reply.header("Retry-After"), "5");
}

TEST_F(BearerTest, a_kept_token_ends_when_it_is_revoked) {
  const auto revocations = std::make_shared<Revocations>();
  auto given = options();
  given.revocations = revocations;
  serve_with(given);
  const std::string good = token();
  auto second = claims();
  second.id = "2";
  const std::string other = token(second);
  EXPECT_EQ(get("/api/who", good).status(), 200U);
  EXPECT_EQ(get("/api/who", other).status(), 200U);
  ASSERT_TRUE(revocations->revoke_token("https://id.example", "1", *second.expires_at));
  EXPECT_EQ(get("/api/who", good).status(), 401U);
  EXPECT_EQ(log.back().reason, jose::Reason::revoked);
  EXPECT_EQ(get("/api/who", other).status(), 200U);
  ASSERT_TRUE(revocations->revoke_subject("https://id.example", "ann",
                                          *second.issued_at + std::chrono::seconds(1),
                                          *second.expires_at));
  EXPECT_EQ(get("/api/who", other).status(), 401U);
  server->advance(seconds(2));
  auto later = claims();
  later.id = "3";
  EXPECT_EQ(get("/api/who", token(later)).status(), 200U);
}

TEST_F(BearerTest, roles_and_scopes_are_found_where_the_issuer_has_them) {
  BearerOptions options;
  options.roles = "/realm_access/roles";
  jose::Claims claims = {.issuer = "i", .subject = "ann"};
  claims.others = {{"scope", " read  write "},
                   {"name", "Ann"},
                   {"realm_access", Object{{"roles", List{"admin", 7, "staff"}}}}};
  const Principal ann = principal_of(claims, options);
  EXPECT_EQ(ann.facts().scopes, (std::vector<std::string>{"read", "write"}));
  EXPECT_EQ(ann.facts().roles, (std::vector<std::string>{"admin", "staff"}));
  EXPECT_EQ(ann.name(), "Ann");
  EXPECT_NE(ann.claim("realm_access"), nullptr);
  options.scopes = "/scp";
  claims.others = {{"scp", List{"read"}}};
  EXPECT_EQ(principal_of(claims, options).facts().scopes, std::vector<std::string>{"read"});
}

TEST_F(BearerTest, a_bearer_without_keys_does_not_build) {
  Router router;
  router.use(bearer({}));
  EXPECT_EQ(std::move(router).build().error().describe(),
            "bearer() has no keys: give it TokenKeys");
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
