#include "katana/identity/jose/jwk.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/identity/jose/vectors_test.hpp"

namespace katana::jose {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string pem_of(EVP_PKEY* key, bool is_private) {
  const detail::OwnedBio to(BIO_new(BIO_s_mem()));
  if (is_private) {
    PEM_write_bio_PrivateKey(to.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  } else {
    PEM_write_bio_PUBKEY(to.get(), key);
  }
  char* text = nullptr;
  const long size = BIO_get_mem_data(to.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string words_of(Bytes jwk, std::vector<Algorithm> allowed = asymmetric_algorithms()) {
  const auto key = read_jwk(jwk, allowed);
  EXPECT_FALSE(key.has_value());
  return key ? "" : key.error().describe();
}

std::optional<Algorithm> algorithm_of(Bytes jwk, const std::vector<Algorithm>& allowed) {
  const auto key = read_jwk(jwk, allowed);
  return key ? std::optional(key->algorithm()) : std::nullopt;
}

TEST(JwkTest, an_RSA_key_below_2048_bits_is_refused) {
  const detail::OwnedKey small(EVP_RSA_gen(1024));
  const auto key = VerificationKey::from_pem(Algorithm::rs256, pem_of(small.get(), false));
  ASSERT_FALSE(key.has_value());
  EXPECT_EQ(key.error().describe(),
            "RS256 takes an RSA key of 2048 to 8192 bits (RFC 7518 §3.3), and this one has 1024");
}

TEST(JwkTest, an_RSA_key_with_an_exponent_that_is_even_one_or_long_is_refused) {
  for (const Bytes exponent : {Bytes("AQ"), Bytes("Ag"), Bytes("AQAA"), Bytes("AQAAAAAAAAAB")}) {
    std::string jwk(vectors::rfc7515_rsa);
    jwk.replace(jwk.find("AQAB"), 4, exponent);
    EXPECT_THAT(words_of(jwk), HasSubstr("odd exponent")) << exponent;
  }
}

TEST(JwkTest, a_secret_shorter_than_its_hash_is_refused) {
  EXPECT_FALSE(VerificationKey::from_secret(Algorithm::hs256, std::string(31, 'a')).has_value());
  EXPECT_TRUE(VerificationKey::from_secret(Algorithm::hs256, std::string(32, 'a')).has_value());
  EXPECT_FALSE(VerificationKey::from_secret(Algorithm::hs512, std::string(63, 'a')).has_value());
  EXPECT_FALSE(VerificationKey::from_secret(Algorithm::hs256, std::string(1025, 'a')).has_value());
}

// RFC 8725 §3.5: who signs chooses the secret. A secret that others have chosen can only be taken.
TEST(JwkTest, a_password_signs_nothing) {
  const std::string passwords[] = {
      std::string(32, 'a'),
      "abcdefgabcdfegabcdgfeabcdefgabcd",     // seven different characters
      "0123456789abcdef0123456789abcdef",     // repeats itself
      "0123456789ABCDEF-0123456789ABCDEF-0",  // the same, cut
      "Correct Horse 7 Battery Staple 42",
      "Correct\tHorse7BatteryStaple42-99-1",
      "correct-horse-battery-staple-again",
      "CORRECT-HORSE-BATTERY-STAPLE-AGAIN",
      "3141592653589793238462643383279502",
      "\u00fcber-gr\u00fc\u00dfe-aus-dem-s\u00fcden-alle-zeit",
  };
  for (const std::string& password : passwords) {
    const auto key = SigningKey::from_secret(Algorithm::hs256, password);
    ASSERT_FALSE(key) << password;
    EXPECT_THAT(key.error().describe(), HasSubstr("openssl rand"));
    EXPECT_THAT(key.error().describe(), Not(HasSubstr(password)));
    const std::string jwk =
        R"({"kty":"oct","alg":"HS256","k":")" + encode_base64url(password) + "\"}";
    EXPECT_FALSE(read_private_jwk(jwk, {Algorithm::hs256})) << password;
    EXPECT_TRUE(read_jwk(jwk, {Algorithm::hs256})) << password;
    EXPECT_TRUE(VerificationKey::from_secret(Algorithm::hs256, password)) << password;
  }
}

TEST(JwkTest, random_text_and_random_bytes_sign) {
  for (int round = 0; round < 1000; ++round) {
    const std::string octets = random_octets(32);
    std::string digits;
    for (const char c : octets) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
    for (const std::string& text :
         {octets, digits, encode_base64(octets), encode_base64url(octets)}) {
      ASSERT_TRUE(SigningKey::from_secret(Algorithm::hs256, text)) << digits;
    }
  }
}

TEST(JwkTest, a_key_fits_its_algorithm_or_is_refused) {
  const detail::OwnedKey k1(EVP_EC_gen("secp256k1"));
  EXPECT_FALSE(VerificationKey::from_pem(Algorithm::es256, pem_of(k1.get(), false)).has_value());
  const detail::OwnedKey p384(EVP_EC_gen("P-384"));
  const std::string pem = pem_of(p384.get(), false);
  EXPECT_TRUE(VerificationKey::from_pem(Algorithm::es384, pem).has_value());
  for (const Algorithm other : {Algorithm::es256, Algorithm::es512, Algorithm::rs256,
                                Algorithm::ps512, Algorithm::eddsa, Algorithm::hs256}) {
    EXPECT_FALSE(VerificationKey::from_pem(other, pem).has_value());
  }
  EXPECT_FALSE(SigningKey::from_pem(Algorithm::es384, pem).has_value());
  const auto own = SigningKey::from_pem(Algorithm::es384, pem_of(p384.get(), true));
  ASSERT_TRUE(own.has_value());
  EXPECT_TRUE(own->verification_key().verify("a", *own->sign("a")));
  EXPECT_FALSE(own->verification_key().verify("b", *own->sign("a")));
}

TEST(JwkTest, coordinates_have_all_their_octets) {
  const std::string x = *decode_base64url("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU");
  const std::string y = *decode_base64url("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
  const auto jwk = [](Bytes first, Bytes second) {
    return fmt::format(R"({{"kty":"EC","crv":"P-256","x":"{}","y":"{}"}})", encode_base64url(first),
                       encode_base64url(second));
  };
  EXPECT_TRUE(read_jwk(jwk(x, y), {Algorithm::es256}).has_value());
  EXPECT_THAT(words_of(jwk(x.substr(1), y)), HasSubstr("31 bytes"));
  EXPECT_THAT(words_of(jwk(x, std::string(1, '\0') + y)), HasSubstr("33 bytes"));
  std::string off_curve = y;
  off_curve.back() ^= 1;
  EXPECT_THAT(words_of(jwk(x, off_curve)), HasSubstr("is no EC key"));
}

TEST(JwkTest, a_key_for_something_else_is_refused) {
  const auto with = [](Bytes members) {
    std::string jwk(vectors::rfc7515_p256);
    jwk.insert(1, members);
    return jwk;
  };
  EXPECT_TRUE(read_jwk(with(R"("use":"sig","key_ops":["sign","verify"],)"), {Algorithm::es256}));
  EXPECT_THAT(words_of(with(R"("use":"enc",)")), HasSubstr("not for signatures"));
  EXPECT_THAT(words_of(with(R"("key_ops":["sign"],)")), HasSubstr("no 'verify'"));
  EXPECT_THAT(words_of(with(R"("key_ops":"verify",)")), HasSubstr("no 'verify'"));
  EXPECT_THAT(words_of(with(R"("alg":"ES384",)")), HasSubstr("ES384 takes a key on another curve"));
  EXPECT_THAT(words_of(with(R"("alg":"none",)")), HasSubstr("no allowed algorithm fits"));
  EXPECT_THAT(words_of(with(R"("alg":7,)")), HasSubstr("no string"));
  EXPECT_THAT(words_of(with(R"("kty":"EC",)")), HasSubstr("twice"));
  EXPECT_THAT(words_of(with("\"kid\":\"" + std::string(257, 'a') + "\",")), HasSubstr("256 bytes"));
}

TEST(JwkTest, an_RSA_key_without_an_algorithm_gets_the_first_that_is_allowed) {
  EXPECT_EQ(read_jwk(vectors::rfc7515_rsa, asymmetric_algorithms())->algorithm(), Algorithm::rs256);
  EXPECT_EQ(read_jwk(vectors::rfc7515_rsa, {Algorithm::es256, Algorithm::ps512, Algorithm::rs256})
                ->algorithm(),
            Algorithm::ps512);
}

TEST(JwkTest, a_key_without_an_algorithm_gets_the_one_of_its_curve) {
  const auto& all = asymmetric_algorithms();
  EXPECT_EQ(algorithm_of(vectors::rfc7515_p256, all), Algorithm::es256);
  EXPECT_EQ(algorithm_of(vectors::rfc7515_p521, all), Algorithm::es512);
  const detail::OwnedKey p384(EVP_EC_gen("P-384"));
  std::string jwk = VerificationKey::from_pem(Algorithm::es384, pem_of(p384.get(), false))->jwk();
  const Bytes named = R"(,"alg":"ES384")";
  ASSERT_THAT(jwk, HasSubstr(named));
  jwk.erase(jwk.find(named), named.size());
  EXPECT_EQ(algorithm_of(jwk, all), Algorithm::es384);
  EXPECT_THAT(words_of(jwk, {Algorithm::es256, Algorithm::es512, Algorithm::eddsa}),
              HasSubstr("no allowed algorithm fits"));
  EXPECT_THAT(words_of(R"({"kty":"OKP","crv":"P-256","x":"AAAA"})", {Algorithm::es256}),
              HasSubstr("no allowed algorithm fits"));
}

TEST(JwkTest, an_algorithm_that_a_key_names_is_refused_unless_it_is_allowed) {
  std::string jwk(vectors::rfc7515_rsa);
  jwk.insert(1, R"("alg":"PS256",)");
  EXPECT_EQ(algorithm_of(jwk, asymmetric_algorithms()), Algorithm::ps256);
  EXPECT_THAT(words_of(jwk, {Algorithm::rs256}), HasSubstr("no allowed algorithm fits"));
}

TEST(JwkTest, a_key_id_has_at_most_256_bytes) {
  const auto with_id = [](std::size_t size) {
    std::string jwk(vectors::rfc7515_p256);
    return jwk.insert(1, "\"kid\":\"" + std::string(size, 'a') + "\",");
  };
  EXPECT_TRUE(read_jwk(with_id(256), {Algorithm::es256}));
  EXPECT_THAT(words_of(with_id(257)), HasSubstr("256 bytes"));
}

TEST(JwkTest, a_private_key_whose_public_part_is_another_keys_is_refused) {
  std::string jwk(vectors::rfc7515_p256);
  EXPECT_TRUE(read_private_jwk(jwk, {Algorithm::es256}));
  const Bytes number = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI";
  jwk.replace(jwk.find(number), number.size(), encode_base64url(std::string(32, '\x01')));
  const auto key = read_private_jwk(jwk, {Algorithm::es256});
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().describe(), HasSubstr("not sound"));
}

TEST(JwkTest, a_secret_has_at_most_1024_bytes) {
  EXPECT_TRUE(VerificationKey::from_secret(Algorithm::hs256, std::string(1024, 'a')));
  EXPECT_TRUE(VerificationKey::from_secret(Algorithm::hs512, std::string(64, 'a')));
  EXPECT_FALSE(VerificationKey::from_secret(Algorithm::hs512, std::string(63, 'a')));
}

TEST(JwkTest, an_RSA_key_has_at_least_2048_bits_and_its_exponent_at_most_64) {
  const detail::OwnedKey least(EVP_RSA_gen(2048));
  EXPECT_TRUE(VerificationKey::from_pem(Algorithm::rs256, pem_of(least.get(), false)));
  const detail::OwnedKey below(EVP_RSA_gen(2047));
  EXPECT_FALSE(VerificationKey::from_pem(Algorithm::rs256, pem_of(below.get(), false)));
  const auto with_exponent = [](Bytes exponent) {
    std::string jwk(vectors::rfc7515_rsa);
    return jwk.replace(jwk.find("AQAB"), 4, exponent);
  };
  EXPECT_TRUE(read_jwk(with_exponent("Aw"), {Algorithm::rs256})) << "3 has 2 bits";
  EXPECT_TRUE(read_jwk(with_exponent("AQAAAAAAAAE"), {Algorithm::rs256})) << "8 bytes";
  EXPECT_FALSE(read_jwk(with_exponent("AQAAAAAAAAAB"), {Algorithm::rs256})) << "9 bytes";
}

TEST(JwkTest, a_set_of_64_keys_is_read_and_one_more_is_refused) {
  const auto set_of = [](int others) {
    std::string json = R"({"keys":[)" + std::string(vectors::rfc7638_rsa);
    for (int count = 0; count < others; ++count) json += ",1";
    return json + "]}";
  };
  const auto full = read_jwk_set(set_of(63), asymmetric_algorithms());
  ASSERT_TRUE(full.has_value()) << full.error().describe();
  EXPECT_EQ(full->keys.size(), 1U);
  EXPECT_EQ(full->passed_over.size(), 63U);
  EXPECT_THAT(read_jwk_set(set_of(64), asymmetric_algorithms()).error().describe(),
              HasSubstr("at most 64"));
}

TEST(JwkTest, a_secret_is_no_key_unless_HMAC_is_allowed) {
  EXPECT_THAT(words_of(vectors::rfc7520_secret), HasSubstr("no allowed algorithm fits"));
  EXPECT_TRUE(read_jwk(vectors::rfc7520_secret, {Algorithm::hs256}).has_value());
}

TEST(JwkTest, a_set_has_what_can_be_used_and_names_the_rest) {
  const std::string json =
      fmt::format(R"({{"keys":[{},{{"kty":"XYZ","kid":"b"}},{},7,{}],"other":1}})",
                  vectors::rfc7638_rsa, vectors::rfc7520_secret, vectors::rfc8037_private);
  const auto set = read_jwk_set(json, asymmetric_algorithms());
  ASSERT_TRUE(set.has_value()) << set.error().describe();
  ASSERT_EQ(set->keys.size(), 2U);
  EXPECT_EQ(set->keys[0].id(), "2011-04-29");
  EXPECT_EQ(set->keys[1].algorithm(), Algorithm::eddsa);
  ASSERT_EQ(set->passed_over.size(), 3U);
  EXPECT_THAT(set->passed_over[0], testing::StartsWith("key 2 ('b'): no allowed algorithm fits"));
}

TEST(JwkTest, a_set_without_a_usable_key_is_an_error) {
  for (const Bytes json : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[]})",
                           R"({"keys":[{"kty":"oct","k":"AAAA"}]})"}) {
    EXPECT_FALSE(read_jwk_set(json, asymmetric_algorithms()).has_value()) << json;
  }
}

TEST(JwkTest, a_member_of_another_type_is_named) {
  EXPECT_THAT(words_of(R"({"kty":"oct","alg":"HS256","k":5})", {Algorithm::hs256}),
              HasSubstr("'k' is no string"));
  EXPECT_THAT(words_of(R"({"kty":"RSA","alg":"RS256","e":"AQAB"})"),
              HasSubstr("'n' is missing or no base64url"));
  std::string jwk(vectors::rfc7515_rsa);
  jwk.insert(1, R"("kid":5,)");
  EXPECT_THAT(words_of(jwk), HasSubstr("'kid' is no string"));
  EXPECT_THAT(words_of("[]"), HasSubstr("is an object of JSON"));
}

TEST(JwkTest, a_PEM_that_is_none_or_of_another_kind_is_named) {
  const auto words = [](const auto& key) { return key ? "" : key.error().describe(); };
  EXPECT_THAT(words(SigningKey::from_pem(Algorithm::rs256, "garbage")),
              HasSubstr("no PEM of a private key"));
  EXPECT_THAT(words(VerificationKey::from_pem(Algorithm::rs256, "garbage")),
              HasSubstr("no PEM of a public key"));
  const detail::OwnedKey rsa(EVP_RSA_gen(2048));
  EXPECT_THAT(words(SigningKey::from_pem(Algorithm::es256, pem_of(rsa.get(), true))),
              HasSubstr("takes an elliptic curve key"));
  EXPECT_THAT(words(SigningKey::from_pem(Algorithm::eddsa, pem_of(rsa.get(), true))),
              HasSubstr("takes an Ed25519 or Ed448 key"));
}

// Its group has a name, and is no curve.
TEST(JwkTest, a_key_of_a_finite_field_is_no_key_of_a_curve) {
  const detail::OwnedKeyContext maker(EVP_PKEY_CTX_new_from_name(nullptr, "DH", nullptr));
  ASSERT_EQ(EVP_PKEY_keygen_init(maker.get()), 1);
  char group[] = "ffdhe2048";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("group", group, 0),
                                   OSSL_PARAM_construct_end()};
  ASSERT_EQ(EVP_PKEY_CTX_set_params(maker.get(), parameters), 1);
  EVP_PKEY* made = nullptr;
  ASSERT_EQ(EVP_PKEY_generate(maker.get(), &made), 1);
  const detail::OwnedKey key(made);
  const auto refused = VerificationKey::from_pem(Algorithm::es256, pem_of(key.get(), false));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), HasSubstr("takes an elliptic curve key"));
}

TEST(JwkTest, a_key_on_Ed448_signs) {
  const detail::OwnedKey made(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED448"));
  const auto key = SigningKey::from_pem(Algorithm::eddsa, pem_of(made.get(), true));
  ASSERT_TRUE(key) << key.error().describe();
  const auto signature = key->sign("input");
  ASSERT_TRUE(signature);
  EXPECT_TRUE(key->verification_key().verify("input", *signature));
  EXPECT_FALSE(key->verification_key().verify("other", *signature));
}

}  // namespace
}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
