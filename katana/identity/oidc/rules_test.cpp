// The rules of a login that need no provider: ID tokens, states, metadata and options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "katana/base/crypto/aead.hpp"
#include "katana/base/crypto/digest.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/data/container/message_pack_write.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/identity/oidc/id_token.hpp"
#include "katana/identity/oidc/login_state.hpp"
#include "katana/identity/oidc/provider.hpp"

namespace katana::oidc {
namespace {

using ::testing::HasSubstr;

class IdTokens : public ::testing::Test {
 protected:
  IdTokens() {
    options_.issuer = "https://id.example";
    options_.client_id = "shop";
    claims_ = {.issuer = options_.issuer, .subject = "user-7", .audiences = {"shop"}};
    claims_.issued_at = now_;
    claims_.expires_at = now_ + std::chrono::minutes(5);
    claims_.others = {{"nonce", "n"}};
  }
  bool is_believed(jose::Algorithm algorithm, Bytes access_token) const {
    const auto key = *jose::SigningKey::from_secret(
        algorithm, "4f8a61c0d97be2350a6f18c4e7d29b53e7d29b534f8a61c0d97be2350a6f18c4");
    return verify_id_token(*jose::sign_jwt(key, claims_), {key.verification_key()},
                           {.options = options_, .nonce = "n", .access_token = access_token}, now_)
        .has_value();
  }
  auth::PrincipalFacts facts() const {
    return facts_of({.header = {}, .claims = claims_}, "roles");
  }

  const Timestamp now_ = Timestamp(std::chrono::seconds(1'800'000'000));
  OidcOptions options_;
  jose::Claims claims_;
};

// OpenID Connect Core 1.0 §3.1.3.6.
TEST_F(IdTokens, have_the_left_half_of_the_hash_that_their_algorithm_has) {
  const Bytes access = "access";
  const std::string of_256 = encode_base64url(crypto::sha256(access).bytes().substr(0, 16));
  const std::string of_384 = encode_base64url(crypto::sha384(access).bytes().substr(0, 24));
  const std::string of_512 = encode_base64url(crypto::sha512(access).bytes().substr(0, 32));
  for (const std::string& half : {of_256, of_384, of_512, std::string()}) {
    claims_.others.set("at_hash", half);
    EXPECT_EQ(is_believed(jose::Algorithm::hs256, access), half == of_256);
    EXPECT_EQ(is_believed(jose::Algorithm::hs384, access), half == of_384);
    EXPECT_EQ(is_believed(jose::Algorithm::hs512, access), half == of_512);
  }
}

TEST_F(IdTokens, may_lack_a_hash_and_may_have_one_without_an_access_token) {
  EXPECT_TRUE(is_believed(jose::Algorithm::hs256, "access"));
  claims_.others.set("at_hash", "other");
  EXPECT_TRUE(is_believed(jose::Algorithm::hs256, ""));
}

TEST_F(IdTokens, give_the_principal_its_names_times_and_roles) {
  EXPECT_EQ(facts().id, "user-7");
  EXPECT_EQ(facts().issuer, "https://id.example");
  EXPECT_EQ(facts().authenticated_at, now_);
  EXPECT_EQ(facts().name, "");
  for (const Bytes name : {"email", "preferred_username", "name"}) {
    claims_.others.set(name, name);
    EXPECT_EQ(facts().name, name);
  }
  EXPECT_TRUE(facts().roles.empty());
  claims_.others.set("roles", "admin");
  EXPECT_EQ(facts().roles, std::vector<std::string>{"admin"});
  claims_.others.set("roles", container::List{"admin", 7, "staff"});
  EXPECT_EQ(facts().roles, (std::vector<std::string>{"admin", "staff"}));
  claims_.others.set("roles", 7);
  EXPECT_TRUE(facts().roles.empty());
}

TEST(LoginState, is_sealed_by_one_to_secrets_max_secrets) {
  std::vector<std::string> ring(StateSealer::secrets_max, std::string(32, 'a'));
  EXPECT_TRUE(StateSealer::make(ring, "client"));
  ring.emplace_back(32, 'b');
  EXPECT_FALSE(StateSealer::make(ring, "client"));
  EXPECT_FALSE(StateSealer::make({}, "client"));
}

// States of a former version open in the next one.
TEST(LoginState, is_message_pack_under_a_key_that_is_derived_from_secret_and_client) {
  const std::vector<std::string> ring = {std::string(32, 'a')};
  const auto sealer = StateSealer::make(ring, "client");
  const Bytes use = "katana oidc state v1";
  const SecretText text =
      crypto::hkdf(crypto::Hash::sha256, ring.front(), "client", use, crypto::Aead::key_bytes);
  const crypto::Aead key(text.reveal());
  const LoginState state = {.return_to = "/x", .expires_s = 100};
  const auto opened =
      sealer->open(encode_base64url(key.seal(container::to_message_pack(state), use)), 0);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->return_to, "/x");
  EXPECT_FALSE(sealer->open(encode_base64url(key.seal("no state", use)), 0));
  EXPECT_FALSE(sealer->open("!", 0)) << "no base64url";
}

TEST(LoginState, is_read_up_to_4096_characters) {
  const auto sealer = StateSealer::make(std::vector<std::string>{std::string(32, 'a')}, "client");
  int opened = 0, refused = 0;
  for (std::size_t size = 2800; size < 3100; ++size) {
    const std::string text = sealer->seal({.return_to = std::string(size, 'x'), .expires_s = 1});
    const bool is_open = sealer->open(text, 0).has_value();
    EXPECT_EQ(is_open, text.size() <= 4096) << text.size();
    (is_open ? opened : refused) += 1;
  }
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, 0);
}

TEST(LocalPath, begins_with_one_slash_and_has_no_sign_that_browsers_read_otherwise) {
  for (const Bytes path : {"/", "/a", "/a?b=c#d", "/a//b", "/!~"}) {
    EXPECT_TRUE(is_local_path(path)) << path;
  }
  for (const Bytes path :
       {"", "a", "//a", "//", "/\\a", "/a\\b", "/a b", "/a\tb", "/a\x7f", "/\xc3\xa4"}) {
    EXPECT_FALSE(is_local_path(path)) << path;
  }
  EXPECT_TRUE(is_local_path("/" + std::string(return_to_bytes_max - 1, 'a')));
  EXPECT_FALSE(is_local_path("/" + std::string(return_to_bytes_max, 'a')));
}

TEST(Provider, metadata_is_refused_for_what_is_no_url_and_for_a_plain_end_of_sessions) {
  const std::string start =
      R"({"issuer":"i","authorization_endpoint":"https://i/a","jwks_uri":"https://i/k",)";
  EXPECT_TRUE(read_metadata(start + R"("token_endpoint":"https://i/t"})", "i"));
  EXPECT_TRUE(read_metadata(
      start + R"("token_endpoint":"https://i/t","end_session_endpoint":"https://i/e"})", "i"));
  const auto no_url = read_metadata(start + R"("token_endpoint":"nonsense"})", "i");
  ASSERT_FALSE(no_url);
  EXPECT_THAT(no_url.error().describe(), HasSubstr("token_endpoint"));
  const auto plain = read_metadata(
      start + R"("token_endpoint":"https://i/t","end_session_endpoint":"http://i/e"})", "i");
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().describe(), HasSubstr("end_session_endpoint"));
  EXPECT_FALSE(read_metadata("{", "i"));
  EXPECT_FALSE(read_metadata(start + R"("token_endpoint":"https://i/t"})", "other"));
}

}  // namespace
}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
