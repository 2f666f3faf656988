// Basic and API keys, and several authenticators in one.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "katana/base/values/base64.hpp"
#include "katana/identity/auth/api_key.hpp"
#include "katana/identity/auth/basic.hpp"
#include "katana/identity/auth/token_fixture_test.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::auth {
namespace {

class CredentialsTest : public TokenTest {
 protected:
  ApiKeyOptions key_options() {
    return {.find = [this](std::string prefix) { return find(std::move(prefix)); },
            .on_refused = [this](Bytes reason) { reasons.emplace_back(reason); }};
  }
  Task<Result<std::optional<ApiKeyRecord>>> find(std::string prefix) {
    co_await net::sleep_for(milliseconds(1));
    if (prefix == "down_1") co_return fail(Code::unavailable, "the database is down");
    const auto found = records.find(prefix);
    if (found == records.end()) co_return std::nullopt;
    co_return found->second;
  }
  BasicOptions basic_options() {
    return {
        .realm = "shop",
        .verify = [](std::string user,
                     SecretText password) { return verify(std::move(user), std::move(password)); },
        .on_refused = [this](Bytes reason) { reasons.emplace_back(reason); }};
  }
  static Task<Result<std::optional<PrincipalFacts>>> verify(std::string user, SecretText password) {
    co_await net::sleep_for(milliseconds(1));
    if (user != "änne" || password.reveal() != "pass:wörd") co_return std::nullopt;
    co_return PrincipalFacts{.id = user};
  }
  testing::TestReply with_key(Bytes text) {
    return server->get("/api/who", {{"X-API-Key", std::string(text)}});
  }
  testing::TestReply with_password(Bytes text) {
    return server->get("/api/who", {{"Authorization", "Basic " + encode_base64(text)}});
  }

  std::map<std::string, ApiKeyRecord> records;
  std::vector<std::string> reasons;
};

TEST_F(CredentialsTest, a_key_is_who_it_was_given_to) {
  const NewApiKey given = make_api_key("shop");
  EXPECT_TRUE(given.text.reveal().starts_with(given.prefix + "_"));
  EXPECT_EQ(given.text.size(), given.prefix.size() + 1 + 64);
  EXPECT_EQ(given.hash, hash_api_key(given.text.reveal()));
  EXPECT_FALSE(make_api_key("shop").text == given.text);
  records[given.prefix] = {.hash = given.hash, .id = "robot", .scopes = {"read"}};
  serve([&](Group& api) { api.use(api_key(key_options())).get("/who", &say_who); });
  const auto reply = with_key(given.text.reveal());
  EXPECT_EQ(reply.status(), 200U) << reply;
  EXPECT_EQ(reply.content(), "api_key");
  EXPECT_EQ(reply.header("X-Who"), "robot");
  EXPECT_EQ(reply.header("Cache-Control"), "no-store");
}

TEST_F(CredentialsTest, a_key_that_is_unknown_wrong_expired_or_malformed_is_invalid_alike) {
  const NewApiKey given = make_api_key("shop");
  const NewApiKey old = make_api_key("shop");
  records[given.prefix] = {.hash = given.hash};
  records[old.prefix] = {.hash = old.hash, .expires_at = Timestamp(std::chrono::seconds(1))};
  serve([&](Group& api) { api.use(api_key(key_options())).get("/who", &say_who); });
  EXPECT_EQ(with_key(given.text.reveal()).header("X-Who"), given.prefix);
  const std::string wrong = given.prefix + "_" + std::string(64, '0');
  const auto first = with_key(wrong);
  EXPECT_EQ(first.status(), 401U);
  EXPECT_EQ(first.header("WWW-Authenticate"), "ApiKey");
  for (const std::string& text :
       {wrong, std::string("nobody_") + std::string(64, '0'), std::string(old.text.reveal()),
        std::string("x"), std::string("_x"), std::string("a_"), std::string("a_b c"),
        std::string(300, 'a') + "_b"}) {
    const auto reply = with_key(text);
    EXPECT_EQ(reply.status(), 401U) << text;
    EXPECT_EQ(reply.content(), first.content());
  }
  EXPECT_EQ(with_key("down_1_x").status(), 503U);
  EXPECT_EQ(reasons[3], "the API key has expired");
}

TEST_F(CredentialsTest, a_password_is_read_as_UTF_8_and_may_have_colons) {
  serve([&](Group& api) { api.use(basic(basic_options())).get("/who", &say_who); });
  const auto reply = with_password("änne:pass:wörd");
  EXPECT_EQ(reply.status(), 200U) << reply;
  EXPECT_EQ(reply.content(), "basic");
  const auto none = server->get("/api/who");
  EXPECT_EQ(none.status(), 401U);
  EXPECT_EQ(none.header("WWW-Authenticate"), R"(Basic realm="shop", charset="UTF-8")");
  for (const Bytes wrong : {Bytes("änne:pass:word"), Bytes("bob:pass:wörd"), Bytes("änne"),
                            Bytes(":x"), Bytes("a\0:b", 4), Bytes("a:b\n"), Bytes("\xff:a")}) {
    EXPECT_EQ(with_password(wrong).status(), 401U);
  }
  EXPECT_EQ(server->get("/api/who", {{"Authorization", "Basic a"}}).status(), 401U);
  EXPECT_EQ(with_password(std::string(2000, 'a') + ":b").status(), 401U);
}

TEST_F(CredentialsTest, the_first_way_that_finds_credentials_decides) {
  const NewApiKey given = make_api_key("shop");
  records[given.prefix] = {.hash = given.hash};
  serve([&](Group& api) {
    api.use(first_of({bearer(options()), api_key(key_options()), basic(basic_options())}));
    api.get("/who", &say_who);
  });
  EXPECT_EQ(get("/api/who", token()).content(), "token");
  EXPECT_EQ(with_key(given.text.reveal()).content(), "api_key");
  EXPECT_EQ(with_password("änne:pass:wörd").content(), "basic");
  // A wrong token is refused even with a valid key beside it.
  EXPECT_EQ(server
                ->get("/api/who", {{"Authorization", "Bearer x"},
                                   {"X-API-Key", std::string(given.text.reveal())}})
                .status(),
            401U);
  const auto none = server->get("/api/who");
  EXPECT_EQ(none.status(), 401U);
  std::vector<std::string> challenges;
  for (const auto& [name, value] : none.headers()) {
    if (name == "WWW-Authenticate" || name == "www-authenticate") challenges.push_back(value);
  }
  EXPECT_EQ(challenges, (std::vector<std::string>{R"(Bearer realm="restricted")", "ApiKey",
                                                  R"(Basic realm="shop", charset="UTF-8")"}));
}

TEST_F(CredentialsTest, what_lacks_its_functions_does_not_build) {
  Router router;
  router.use(api_key({})).use(basic({})).use(basic({.realm = "x"}));
  const std::string words = std::move(router).build().error().describe();
  EXPECT_TRUE(words.contains("api_key() has no `find`")) << words;
  EXPECT_TRUE(words.contains("basic() has no realm")) << words;
  EXPECT_TRUE(words.contains("basic() has no `verify`")) << words;
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
