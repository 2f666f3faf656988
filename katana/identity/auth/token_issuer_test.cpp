#include "katana/identity/auth/token_issuer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::auth {
namespace {

constexpr const char* secret = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

// A service that issues tokens to its clients.
class TokenIssuerTest : public ::testing::Test {
 protected:
  void serve(TokenIssuerOptions options) {
    auto made = TokenIssuer::make(std::move(options));
    ASSERT_TRUE(made) << made.error().describe();
    issuer_ = *std::move(made);
    Router router;
    Group api = router.group("");
    api.use(issuer_->bearer());
    api.get("/who", [](FromContext<Principal> who) {
      return Reply::text(format_text("{} {} {} {} {}", who->id(), who->name(), who->issuer(),
                                     who->has_role("editor"), who->has_scope("orders:read")));
    });
    // Signed where time is that of the test.
    router.get("/token", [this] {
      PrincipalFacts who{.id = "7", .name = "Ann", .roles = {"reader", "editor"}};
      who.scopes = {"orders:read"};
      const auto issued = issuer_->issue(who);
      return Reply::text(issued ? issued->token : issued.error().describe());
    });
    server_ = std::make_unique<testing::TestServer>(std::move(router).build());
  }
  testing::TestReply who(const std::string& token, const std::string& scheme = "Bearer") {
    return server_->get("/who", {{"Authorization", scheme + " " + token}});
  }
  std::string token() { return server_->get("/token").content(); }

  std::unique_ptr<TokenIssuer> issuer_;
  std::unique_ptr<testing::TestServer> server_;
};

TEST_F(TokenIssuerTest, a_token_has_what_is_known_of_the_client) {
  serve({.secret = secret, .issuer = "shop"});
  EXPECT_EQ(who(token()).content(), "7 Ann shop true true");
  EXPECT_EQ(server_->get("/who").status(), 401u);
}

TEST_F(TokenIssuerTest, a_token_ends_after_its_lifetime) {
  serve({.issuer = "shop", .lifetime = seconds(600)});
  const std::string issued = token();
  server_->advance(seconds(540));
  EXPECT_EQ(who(issued).status(), 200u);
  server_->advance(seconds(180));
  EXPECT_EQ(who(issued).status(), 401u);
}

TEST_F(TokenIssuerTest, instances_with_one_secret_take_the_tokens_of_each_other) {
  serve({.secret = secret, .issuer = "shop"});
  const std::string of_first = token();
  serve({.secret = secret, .issuer = "shop", .scheme = "Token"});
  EXPECT_EQ(who(of_first, "Token").status(), 200u);
  EXPECT_EQ(who(of_first).status(), 401u);
  serve({.secret = secret, .issuer = "other"});
  EXPECT_EQ(who(of_first).status(), 401u);
  serve({.issuer = "shop"});
  EXPECT_EQ(who(of_first).status(), 401u);
}

TEST_F(TokenIssuerTest, a_secret_that_can_be_guessed_and_a_program_without_a_name_are_refused) {
  EXPECT_FALSE(TokenIssuer::make({.secret = "correct horse", .issuer = "shop"}));
  EXPECT_FALSE(TokenIssuer::make({.secret = "", .issuer = "shop"}));
  EXPECT_FALSE(TokenIssuer::make({.secret = secret}));
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
