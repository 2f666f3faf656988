#include "katana/identity/auth/bearer.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/identity/auth/token_fixture_test.hpp"
#include "katana/net/reactor/sleep.hpp"

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

// RFC 9110 §3.3: a proxy in front sends the requests of many users on one connection.
TEST_F(BearerTest, users_of_one_connection_are_apart) {
  for (const auto protocol : {testing::TestProtocol::http1, testing::TestProtocol::http2}) {
    testing::TestOptions how;
    how.protocol = protocol;
    serve(
        [&](Group& api) {
          api.use(bearer(options()));
          api.get("/who", &say_who);
          api.get("/later/{ms}", [](FromContext<Principal> who, Path<int> ms) -> Task<Reply> {
            co_await net::sleep_for(milliseconds(*ms));
            co_return Reply::text(who->id());
          });
        },
        how);
    const auto of = [&](const std::string& id) {
      jose::Claims said = claims();
      said.subject = said.id = id;
      return token(said);
    };
    const std::string ann = of("ann"), bob = of("bob");
    EXPECT_EQ(get("/api/who", ann).header("X-Who"), "ann");
    EXPECT_EQ(get("/api/who", bob).header("X-Who"), "bob");
    EXPECT_EQ(server->get("/api/who").status(), 401U) << "the next one has no token";
    EXPECT_EQ(get("/api/who", ann).header("X-Who"), "ann");
    EXPECT_EQ(get("/api/who", "x").status(), 401U);
    EXPECT_EQ(server->get("/api/who").status(), 401U);
    EXPECT_EQ(server->connections(), 1U);
    if (protocol != testing::TestProtocol::http2) continue;
    const auto begin = [&](const std::string& path, const std::string& token) {
      return server->begin("GET", path, {}, {{"Authorization", "Bearer " + token}});
    };
    auto slow = begin("/api/later/30", ann);
    auto middle = begin("/api/later/20", bob);
    auto quick = begin("/api/later/10", ann);
    EXPECT_EQ(server->connections(), 1U);
    EXPECT_EQ(quick.reply().content(), "ann");
    EXPECT_EQ(middle.reply().content(), "bob");
    EXPECT_EQ(slow.reply().content(), "ann");
  }
}

// RFC 6750 §5.3
TEST_F(BearerTest, a_token_without_tls_is_refused_where_tls_is_required) {
  auto given = options();
  given.requires_tls = true;
  testing::TestOptions how;
  how.http.trusted_proxies = {*Network::parse("0.0.0.0/0"), *Network::parse("::/0")};
  how.http.forwarded = http::ForwardedFields::x_forwarded;
  serve(
      [&](Group& api) {
        api.use(bearer(given));
        api.get("/who", &say_who);
      },
      how);
  const auto by = [&](const std::string& scheme) {
    return server->get("/api/who", {{"Authorization", "Bearer " + token()},
                                    {"X-Forwarded-For", "192.0.2.7"},
                                    {"X-Forwarded-Proto", scheme}});
  };
  EXPECT_EQ(by("https").status(), 200U);
  const auto refused = by("http");
  EXPECT_EQ(refused.status(), 400U);
  EXPECT_EQ(refused.header("WWW-Authenticate"), R"(Bearer error="invalid_request")");
  EXPECT_NE(refused.content().find("by https only"), std::string::npos);
  EXPECT_EQ(get("/api/who", token()).status(), 400U);
  EXPECT_EQ(server->get("/api/who").status(), 401U) << "there is no token to protect";
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
  const auto next = key_of("b17c03e9d5a84f26c0318e7fd64a92b5", "2");
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
