#include "katana/identity/jose/jwt.hpp"

#include <gtest/gtest.h>

#include <array>

namespace katana::jose {
namespace {

constexpr Timestamp token_time = Timestamp(std::chrono::seconds(1'800'000'000));
constexpr Timestamp at(std::int64_t seconds_from_now) {
  return token_time + std::chrono::seconds(seconds_from_now);
}

class JwtTest : public testing::Test {
 protected:
  static constexpr Bytes secret = "4f8a61c0d97be2350a6f18c4e7d29b53";
  SigningKey key_ = *SigningKey::from_secret(Algorithm::hs256, secret, "1");
  std::array<VerificationKey, 1> keys_ = {key_.verification_key()};
  TokenRules rules_ = {.issuers = {"https://id.example"}, .audiences = {"orders"}};
  Claims claims_ = {.issuer = "https://id.example",
                    .subject = "ann",
                    .audiences = {"orders"},
                    .expires_at = at(600)};

  Verified<Token> verify() const {
    return verify_jwt(*sign_jwt(key_, claims_), keys_, rules_, token_time);
  }
  // The reason of the refusal; `revoked` if the token is accepted.
  Reason reason() const {
    const auto token = verify();
    return token ? Reason::revoked : token.error().reason;
  }
  bool is_good() const { return verify().has_value(); }
};

TEST_F(JwtTest, what_was_signed_is_what_is_read) {
  claims_.audiences = {"files", "orders"};
  claims_.id = "7";
  claims_.issued_at = at(-5);
  claims_.not_before = at(-4);
  claims_.others = {{"scope", "read write"}, {"admin", true}};
  const auto token = verify();
  ASSERT_TRUE(token.has_value()) << token.error().describe();
  EXPECT_EQ(token->header.key_id, "1");
  EXPECT_EQ(token->header.type, "JWT");
  EXPECT_EQ(token->claims.issuer, "https://id.example");
  EXPECT_EQ(token->claims.subject, "ann");
  EXPECT_EQ(token->claims.audiences, claims_.audiences);
  EXPECT_EQ(token->claims.id, "7");
  EXPECT_EQ(token->claims.issued_at, at(-5));
  EXPECT_EQ(token->claims.not_before, at(-4));
  EXPECT_EQ(token->claims.expires_at, at(600));
  EXPECT_EQ(token->claims.others, claims_.others);
}

TEST_F(JwtTest, a_registered_claim_among_the_others_is_not_signed) {
  for (const char* const name : {"iss", "sub", "aud", "exp", "nbf", "iat", "jti"}) {
    claims_.others = {{"scope", "read"}, {name, "root"}};
    const auto refused = sign_jwt(key_, claims_);
    ASSERT_FALSE(refused.has_value()) << name;
    EXPECT_EQ(refused.error().code(), Code::invalid_argument);
    EXPECT_TRUE(refused.error().describe().contains(name));
  }
  claims_.others = {{"scope", "read"}, {"SUB", "root"}};
  const auto token = verify();
  ASSERT_TRUE(token.has_value()) << token.error().describe();
  EXPECT_EQ(token->claims.subject, "ann");
  EXPECT_EQ(token->claims.others, claims_.others);
}

TEST_F(JwtTest, it_expires_in_the_second_that_it_names_and_the_leeway_later) {
  claims_.expires_at = at(-29);
  EXPECT_TRUE(is_good());
  claims_.expires_at = at(-30);
  EXPECT_EQ(reason(), Reason::expired);
  rules_.leeway = {};
  claims_.expires_at = token_time;
  EXPECT_EQ(reason(), Reason::expired);
  claims_.expires_at = at(1);
  EXPECT_TRUE(is_good());
}

TEST_F(JwtTest, without_an_end_it_is_refused_unless_the_rules_say_so) {
  claims_.expires_at.reset();
  EXPECT_EQ(reason(), Reason::missing_claim);
  rules_.is_expiry_required = false;
  EXPECT_TRUE(is_good());
}

TEST_F(JwtTest, it_is_not_valid_before_its_time) {
  claims_.not_before = at(31);
  EXPECT_EQ(reason(), Reason::not_yet_valid);
  claims_.not_before = at(30);
  EXPECT_TRUE(is_good());
}

TEST_F(JwtTest, it_was_not_issued_in_the_future_nor_too_long_ago) {
  claims_.issued_at = at(31);
  EXPECT_EQ(reason(), Reason::issued_in_the_future);
  claims_.issued_at = at(30);
  EXPECT_TRUE(is_good());
  rules_.age_max = seconds(60);
  claims_.issued_at = at(-90);
  EXPECT_TRUE(is_good());
  claims_.issued_at = at(-91);
  EXPECT_EQ(reason(), Reason::too_old);
  claims_.issued_at.reset();
  EXPECT_EQ(reason(), Reason::missing_claim);
}

TEST_F(JwtTest, another_issuer_is_refused) {
  claims_.issuer = "https://id.example/";
  EXPECT_EQ(reason(), Reason::wrong_issuer);
  claims_.issuer.clear();
  EXPECT_EQ(reason(), Reason::wrong_issuer);
}

TEST_F(JwtTest, a_token_for_somebody_else_is_refused) {
  claims_.audiences = {"files"};
  EXPECT_EQ(reason(), Reason::wrong_audience);
  claims_.audiences.clear();
  EXPECT_EQ(reason(), Reason::wrong_audience);
  // A server without audiences refuses a token that has some (RFC 7519 §4.1.3).
  rules_.audiences.clear();
  EXPECT_TRUE(is_good());
  claims_.audiences = {"files"};
  EXPECT_EQ(reason(), Reason::wrong_audience);
}

TEST_F(JwtTest, without_a_subject_it_is_refused_unless_the_rules_say_so) {
  claims_.subject.clear();
  EXPECT_EQ(reason(), Reason::missing_claim);
  rules_.is_subject_required = false;
  EXPECT_TRUE(is_good());
}

// Tokens are then to be used a while before their end.
TEST_F(JwtTest, a_leeway_below_zero_shortens_their_life_and_asks_for_no_time_of_issue) {
  rules_.leeway = seconds(-10);
  claims_.issued_at.reset();
  EXPECT_TRUE(is_good());
  claims_.expires_at = at(10);
  EXPECT_EQ(reason(), Reason::expired);
}

TEST_F(JwtTest, times_may_have_a_fraction) {
  const auto token =
      sign_jws(key_, R"({"iss":"https://id.example","sub":"a","aud":"orders","exp":1800000000.5})");
  rules_.leeway = {};
  EXPECT_TRUE(verify_jwt(*token, keys_, rules_, token_time).has_value());
  const auto late = token_time + std::chrono::milliseconds(500);
  EXPECT_EQ(verify_jwt(*token, keys_, rules_, late).error().reason, Reason::expired);
}

TEST_F(JwtTest, a_refusal_says_what_the_token_had) {
  claims_.audiences = {"files"};
  EXPECT_EQ(verify().error().describe(), "the token is for somebody else: aud is 'files'");
  claims_.expires_at = at(-3600);
  EXPECT_EQ(verify().error().describe(), "the token has expired: exp is 2027-01-15T07:00:00Z");
}

}  // namespace
}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
