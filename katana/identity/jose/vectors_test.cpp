#include "katana/identity/jose/vectors_test.hpp"

#include <gtest/gtest.h>

#include <array>

#include "katana/base/values/base64.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jws.hpp"

namespace katana::jose {
namespace {

VerificationKey public_key(Bytes jwk, Algorithm algorithm) {
  auto key = read_jwk(jwk, {algorithm});
  EXPECT_TRUE(key.has_value()) << key.error().describe();
  return *std::move(key);
}

SigningKey private_key(Bytes jwk, Algorithm algorithm) {
  auto key = read_private_jwk(jwk, {algorithm});
  EXPECT_TRUE(key.has_value()) << key.error().describe();
  return *std::move(key);
}

void expect_verifies(Bytes token, Bytes jwk, Algorithm algorithm) {
  const std::array keys = {public_key(jwk, algorithm)};
  const auto content = verify_jws(token, keys);
  ASSERT_TRUE(content.has_value()) << content.error().describe();
  EXPECT_EQ(content->header.algorithm, algorithm);
  const Bytes payload = token.substr(token.find('.') + 1);
  EXPECT_EQ(encode_base64url(content->payload), payload.substr(0, payload.find('.')));
  // A changed bit of the signature makes the token invalid.
  std::string changed(token);
  char& digit = changed[token.rfind('.') + 3];
  digit = digit == 'A' ? 'B' : 'A';
  const auto refused = verify_jws(changed, keys);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::wrong_signature);
}

TEST(JoseVectors, the_tokens_of_RFC_7515_appendix_A_verify) {
  using namespace vectors;
  expect_verifies(rfc7515_hs256, rfc7515_secret, Algorithm::hs256);
  expect_verifies(rfc7515_rs256, rfc7515_rsa, Algorithm::rs256);
  expect_verifies(rfc7515_es256, rfc7515_p256, Algorithm::es256);
  expect_verifies(rfc7515_es512, rfc7515_p521, Algorithm::es512);
}

TEST(JoseVectors, the_unsecured_token_of_RFC_7515_A_5_is_refused) {
  const std::array keys = {public_key(vectors::rfc7515_secret, Algorithm::hs256)};
  const auto refused = verify_jws(vectors::rfc7515_none, keys);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::algorithm_refused);
}

TEST(JoseVectors, the_signatures_of_RFC_7520_4_verify) {
  using namespace vectors;
  expect_verifies(rfc7520_rs256, rfc7520_rsa_private, Algorithm::rs256);
  expect_verifies(rfc7520_ps384, rfc7520_rsa_private, Algorithm::ps384);
  expect_verifies(rfc7520_es512, rfc7520_ec_private, Algorithm::es512);
  expect_verifies(rfc7520_hs256, rfc7520_secret, Algorithm::hs256);
}

TEST(JoseVectors, the_token_of_RFC_8037_A_4_verifies) {
  expect_verifies(vectors::rfc8037_eddsa, vectors::rfc8037_private, Algorithm::eddsa);
}

TEST(JoseVectors, signatures_without_randomness_are_those_that_the_standards_print) {
  using namespace vectors;
  const std::string payload = *decode_base64url(rfc7520_payload);
  EXPECT_EQ(*sign_jws(private_key(rfc7520_rsa_private, Algorithm::rs256), payload), rfc7520_rs256);
  EXPECT_EQ(*sign_jws(private_key(rfc7520_secret, Algorithm::hs256), payload), rfc7520_hs256);
  EXPECT_EQ(*sign_jws(private_key(rfc8037_private, Algorithm::eddsa), "Example of Ed25519 signing"),
            rfc8037_eddsa);
}

TEST(JoseVectors, signatures_with_randomness_verify) {
  using namespace vectors;
  const struct {
    Bytes jwk;
    Algorithm algorithm;
  } cases[] = {{rfc7520_rsa_private, Algorithm::ps256}, {rfc7520_rsa_private, Algorithm::ps384},
               {rfc7520_rsa_private, Algorithm::ps512}, {rfc7520_rsa_private, Algorithm::rs512},
               {rfc7515_p256, Algorithm::es256},        {rfc7520_ec_private, Algorithm::es512}};
  for (const auto& [jwk, algorithm] : cases) {
    const SigningKey key = private_key(jwk, algorithm);
    for (int round = 0; round < 20; ++round) {  // r and s are sometimes shorter
      const auto token = sign_jws(key, "content");
      ASSERT_TRUE(token.has_value());
      const std::array keys = {public_key(jwk, algorithm)};
      EXPECT_TRUE(verify_jws(*token, keys).has_value()) << name_of(algorithm);
    }
  }
}

TEST(JoseVectors, thumbprints_are_those_of_RFC_7638_and_RFC_8037_A_3) {
  EXPECT_EQ(public_key(vectors::rfc7638_rsa, Algorithm::rs256).thumbprint(),
            "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
  EXPECT_EQ(public_key(vectors::rfc8037_private, Algorithm::eddsa).thumbprint(),
            "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

TEST(JoseVectors, a_key_reads_back_from_what_it_writes_as_JWK) {
  using namespace vectors;
  const struct {
    Bytes jwk;
    Algorithm algorithm;
  } cases[] = {{rfc7515_rsa, Algorithm::ps256},
               {rfc7515_p256, Algorithm::es256},
               {rfc7515_p521, Algorithm::es512},
               {rfc8037_private, Algorithm::eddsa}};
  for (const auto& [jwk, algorithm] : cases) {
    const VerificationKey key = public_key(jwk, algorithm);
    const VerificationKey again = public_key(key.jwk(), algorithm);
    EXPECT_EQ(again.thumbprint(), key.thumbprint());
    EXPECT_EQ(again.jwk(), key.jwk());
    EXPECT_FALSE(key.jwk().contains("\"d\""));
  }
}

}  // namespace
}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
