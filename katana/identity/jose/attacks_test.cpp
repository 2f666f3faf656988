// The known attacks that have fooled verifiers of tokens, each as a test (RFC 8725 §2).
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "katana/base/values/base64.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/identity/jose/vectors_test.hpp"

namespace katana::jose {
namespace {

constexpr Timestamp now = Timestamp(std::chrono::seconds(1'800'000'000));
constexpr Bytes secret = "4f8a61c0d97be2350a6f18c4e7d29b53";

std::vector<VerificationKey> keys_of(Bytes jwk, Algorithm algorithm) {
  return {*read_jwk(jwk, {algorithm})};
}
std::vector<VerificationKey> secret_keys() {
  return {*VerificationKey::from_secret(Algorithm::hs256, secret)};
}
SigningKey signing_secret() { return *SigningKey::from_secret(Algorithm::hs256, secret); }

// A token with a header of the attacker, and a signature of the real key.
std::string token_of(Bytes header, Bytes payload, const SigningKey& key = signing_secret()) {
  const std::string input = encode_base64url(header) + "." + encode_base64url(payload);
  return input + "." + encode_base64url(*key.sign(input));
}

Reason reason_of(Bytes token, std::span<const VerificationKey> keys) {
  const auto content = verify_jws(token, keys);
  EXPECT_FALSE(content.has_value()) << token;
  return content ? Reason::revoked : content.error().reason;
}

Reason reason_of_claims(Bytes claims, const TokenRules& rules = {}) {
  const auto token = verify_jwt(token_of(R"({"alg":"HS256"})", claims), secret_keys(), rules, now);
  EXPECT_FALSE(token.has_value()) << claims;
  return token ? Reason::revoked : token.error().reason;
}

TEST(TokenAttack, none_is_refused_however_it_is_spelled) {
  const auto keys = secret_keys();
  for (const Bytes name : {"none", "None", "NONE", "nOnE", ""}) {
    const std::string header = R"({"alg":")" + std::string(name) + R"("})";
    const std::string token = encode_base64url(header) + "." + encode_base64url("{}") + ".";
    EXPECT_EQ(reason_of(token, keys), Reason::algorithm_refused);
    EXPECT_EQ(reason_of(token_of(header, "{}"), keys), Reason::algorithm_refused);
  }
}

TEST(TokenAttack, no_algorithm_is_refused) {
  EXPECT_EQ(reason_of(token_of("{}", "{}"), secret_keys()), Reason::algorithm_refused);
  EXPECT_EQ(reason_of(token_of(R"({"alg":null})", "{}"), secret_keys()), Reason::malformed_header);
  EXPECT_EQ(reason_of(token_of(R"({"alg":["HS256"]})", "{}"), secret_keys()),
            Reason::malformed_header);
}

TEST(TokenAttack, a_public_key_is_no_secret) {
  // The attacker signs by HS256 with the text of the public key, which everybody has.
  const auto keys = keys_of(vectors::rfc7515_rsa, Algorithm::rs256);
  const auto forged = SigningKey::from_secret(Algorithm::hs256, keys.front().jwk());
  ASSERT_TRUE(forged.has_value());
  EXPECT_EQ(reason_of(token_of(R"({"alg":"HS256"})", "{}", *forged), keys), Reason::unknown_key);
}

TEST(TokenAttack, a_key_pair_cannot_be_made_a_secret_nor_a_secret_a_key_pair) {
  EXPECT_FALSE(VerificationKey::from_secret(Algorithm::rs256, secret).has_value());
  EXPECT_FALSE(
      VerificationKey::from_pem(Algorithm::hs256, "-----BEGIN PUBLIC KEY-----").has_value());
  EXPECT_FALSE(read_jwk(vectors::rfc7515_rsa, {Algorithm::hs256}).has_value());
  EXPECT_FALSE(read_jwk(vectors::rfc7515_secret, {Algorithm::rs256}).has_value());
}

TEST(TokenAttack, another_algorithm_of_the_same_key_is_refused) {
  // The key is right, and a signature by PS256 as well, but the key is for RS256.
  const auto other = *read_private_jwk(vectors::rfc7520_rsa_private, {Algorithm::ps256});
  const auto keys = keys_of(vectors::rfc7520_rsa_private, Algorithm::rs256);
  EXPECT_EQ(reason_of(*sign_jws(other, "{}"), keys), Reason::algorithm_refused);
}

TEST(TokenAttack, a_key_within_the_token_is_not_used) {
  const auto own = *read_private_jwk(vectors::rfc7515_p256, {Algorithm::es256});
  const auto keys = keys_of(vectors::rfc7515_p521, Algorithm::es512);
  const std::string header = R"({"alg":"ES256","jwk":)" + own.verification_key().jwk() + "}";
  EXPECT_EQ(reason_of(token_of(header, "{}", own), keys), Reason::unknown_key);
  for (const Bytes member : {"jku", "x5u", "x5c", "x5t"}) {
    const std::string of_url =
        R"({"alg":"ES256",")" + std::string(member) + R"(":"https://attacker.example/"})";
    EXPECT_EQ(reason_of(token_of(of_url, "{}", own), keys), Reason::unknown_key);
  }
}

TEST(TokenAttack, a_signature_of_zeros_is_refused) {
  const auto keys = keys_of(vectors::rfc7515_p256, Algorithm::es256);
  const std::string input =
      encode_base64url(R"({"alg":"ES256"})") + "." + encode_base64url("{}") + ".";
  EXPECT_EQ(reason_of(input + encode_base64url(std::string(64, '\0')), keys),
            Reason::wrong_signature);
  // r = s = the order of the curve, which is zero in its arithmetic.
  const std::string order = "\xff\xff\xff\xff" + std::string(4, '\0') + std::string(8, '\xff') +
                            "\xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x51";
  ASSERT_EQ(order.size(), 32U);
  EXPECT_EQ(reason_of(input + encode_base64url(order + order), keys), Reason::wrong_signature);
}

TEST(TokenAttack, a_signature_of_another_size_is_refused) {
  const auto key = *read_private_jwk(vectors::rfc7515_p256, {Algorithm::es256});
  const std::vector keys = {key.verification_key()};
  const std::string input = encode_base64url(R"({"alg":"ES256"})") + "." + encode_base64url("{}");
  const std::string signature = *key.sign(input);
  for (const std::string& other :
       {signature.substr(1), signature + '\0', std::string("\0", 1) + signature, std::string(),
        signature + signature}) {
    EXPECT_EQ(reason_of(input + "." + encode_base64url(other), keys), Reason::wrong_signature);
  }
}

TEST(TokenAttack, a_signature_in_DER_is_refused) {
  const auto keys = keys_of(vectors::rfc7515_p256, Algorithm::es256);
  const std::string der =
      std::string("\x30\x44\x02\x20") + std::string(32, 'r') + "\x02\x20" + std::string(32, 's');
  const std::string input = encode_base64url(R"({"alg":"ES256"})") + "." + encode_base64url("{}");
  EXPECT_EQ(reason_of(input + "." + encode_base64url(der), keys), Reason::wrong_signature);
}

TEST(TokenAttack, a_shortened_mac_is_refused) {
  const std::string token = token_of(R"({"alg":"HS256"})", "{}");
  const std::size_t dot = token.rfind('.');
  for (const std::size_t size : {0, 1, 2, 16, 31}) {
    const std::string mac = decode_base64url(Bytes(token).substr(dot + 1))->substr(0, size);
    EXPECT_EQ(reason_of(token.substr(0, dot + 1) + encode_base64url(mac), secret_keys()),
              Reason::wrong_signature);
  }
}

TEST(TokenAttack, a_payload_of_another_token_is_refused) {
  const std::string one = token_of(R"({"alg":"HS256"})", R"({"sub":"ann"})");
  const std::string other = token_of(R"({"alg":"HS256"})", R"({"sub":"root"})");
  EXPECT_EQ(
      reason_of(other.substr(0, other.rfind('.')) + one.substr(one.rfind('.')), secret_keys()),
      Reason::wrong_signature);
}

TEST(TokenAttack, critical_extensions_are_refused) {
  for (const Bytes header :
       {R"({"alg":"HS256","crit":["b64"],"b64":false})", R"({"alg":"HS256","crit":[]})",
        R"({"alg":"HS256","crit":["exp"],"exp":1})", R"({"alg":"HS256","crit":null})"}) {
    EXPECT_EQ(reason_of(token_of(header, "{}"), secret_keys()), Reason::critical_extension);
  }
}

TEST(TokenAttack, members_given_twice_are_refused) {
  EXPECT_EQ(reason_of(token_of(R"({"alg":"HS256","alg":"none"})", "{}"), secret_keys()),
            Reason::malformed_header);
  EXPECT_EQ(reason_of(token_of(R"({"alg":"HS256","x":1,"x":2})", "{}"), secret_keys()),
            Reason::malformed_header);
  EXPECT_EQ(reason_of(token_of(R"({"alg":"HS256","\u0061lg":"none"})", "{}"), secret_keys()),
            Reason::malformed_header);
  EXPECT_EQ(reason_of_claims(R"({"sub":"ann","exp":1800000100,"sub":"root"})"),
            Reason::malformed_claims);
  EXPECT_EQ(reason_of_claims(R"({"sub":"ann","exp":1800000100,"a":{"b":1,"b":2}})"),
            Reason::malformed_claims);
}

TEST(TokenAttack, text_that_is_not_strict_base64url_is_refused) {
  const std::string token = token_of(R"({"alg":"HS256"})", R"({"a":"?>?>"})");
  const auto keys = secret_keys();
  ASSERT_TRUE(verify_jws(token, keys).has_value());
  EXPECT_EQ(reason_of(token + "=", keys), Reason::malformed);
  EXPECT_EQ(reason_of(token + "\n", keys), Reason::malformed);
  EXPECT_EQ(reason_of(" " + token, keys), Reason::malformed);
  // The 43 digits of a MAC have two unused bits. Digits that set them are refused.
  for (const char c : Bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")) {
    std::string other = token;
    other.back() = c;
    EXPECT_EQ(verify_jws(other, keys).has_value(), c == token.back());
  }
}

TEST(TokenAttack, other_forms_of_tokens_are_refused) {
  const std::string token = token_of(R"({"alg":"HS256"})", "{}");
  const auto keys = secret_keys();
  for (const std::string& other :
       {std::string(), std::string("."), std::string(".."), std::string("..."), token + ".",
        "." + token, token + ".a.b", token.substr(0, token.rfind('.')),
        std::string(R"({"payload":"e30","signatures":[]})")}) {
    const auto content = verify_jws(other, keys);
    EXPECT_FALSE(content.has_value()) << other;
  }
}

TEST(TokenAttack, a_token_above_16_KiB_is_refused_before_it_is_read) {
  const auto keys = secret_keys();
  EXPECT_EQ(reason_of(std::string(token_bytes_max + 1, 'a'), keys), Reason::too_long);
  // The largest one that fits is read.
  const std::string head = encode_base64url(R"({"alg":"HS256"})") + ".";
  std::string payload = R"({"sub":"a)";
  payload.resize((token_bytes_max - head.size() - 44) / 4 * 3 - 2, 'a');
  EXPECT_TRUE(verify_jws(token_of(R"({"alg":"HS256"})", payload + "\"}"), keys).has_value());
}

TEST(TokenAttack, deep_JSON_is_refused) {
  std::string deep = R"({"sub":"ann","exp":1800000100,"a":)";
  deep += std::string(token_depth_max, '[') + std::string(token_depth_max, ']') + "}";
  EXPECT_EQ(reason_of_claims(deep), Reason::malformed_claims);
  const std::string deepest = std::string(4000, '[');
  EXPECT_EQ(reason_of(token_of(deepest, "{}"), secret_keys()), Reason::malformed_header);
}

TEST(TokenAttack, a_key_id_is_compared_and_nothing_else) {
  // A key id is only compared, and never used as a path or in a query.
  const std::vector keys = {*VerificationKey::from_secret(Algorithm::hs256, secret, "a")};
  for (const Bytes id : {"../../dev/null", "a' OR '1'='1", "A", "a\\u0000"}) {
    const std::string header = R"({"alg":"HS256","kid":")" + std::string(id) + R"("})";
    EXPECT_EQ(reason_of(token_of(header, "{}"), keys), Reason::unknown_key);
  }
  const std::string huge = R"({"alg":"HS256","kid":")" + std::string(257, 'a') + R"("})";
  EXPECT_EQ(reason_of(token_of(huge, "{}"), keys), Reason::malformed_header);
}

TEST(TokenAttack, only_four_keys_are_tried) {
  std::vector<VerificationKey> keys;
  for (int number = 0; number < 4; ++number) {
    keys.push_back(*VerificationKey::from_secret(Algorithm::hs256, std::string(32, 'x')));
  }
  keys.push_back(secret_keys().front());
  EXPECT_EQ(reason_of(token_of(R"({"alg":"HS256"})", "{}"), keys), Reason::wrong_signature);
  keys.erase(keys.begin());
  EXPECT_TRUE(verify_jws(token_of(R"({"alg":"HS256"})", "{}"), keys).has_value());
}

TEST(TokenAttack, a_token_of_another_type_is_refused) {
  const auto reason = [](Bytes header, const TokenRules& rules = {}) {
    const auto token = verify_jwt(token_of(header, R"({"sub":"ann","exp":1800000100})"),
                                  secret_keys(), rules, now);
    return token ? Reason::revoked : token.error().reason;
  };
  EXPECT_EQ(reason(R"({"alg":"HS256","typ":"logout+jwt"})"), Reason::wrong_type);
  EXPECT_EQ(reason(R"({"alg":"HS256","cty":"JWT"})"), Reason::wrong_type);
  EXPECT_EQ(reason(R"({"alg":"HS256"})", {.is_type_required = true}), Reason::wrong_type);
  EXPECT_EQ(reason(R"({"alg":"HS256","typ":"JWT"})", {.types = {"at+jwt"}}), Reason::wrong_type);
  EXPECT_EQ(reason(R"({"alg":"HS256","typ":"application/AT+JWT"})", {.types = {"at+jwt"}}),
            Reason::revoked);
}

TEST(TokenAttack, claims_of_another_type_are_refused) {
  for (const Bytes claims :
       {R"({"sub":"ann","exp":"1900000000"})", R"({"sub":"ann","exp":null})",
        R"({"sub":"ann","exp":-1})", R"({"sub":"ann","exp":1e300})",
        R"({"sub":"ann","exp":18446744073709551615})", R"({"sub":["ann"],"exp":1800000100})",
        R"({"sub":"ann","exp":1800000100,"nbf":"1700000000"})",
        R"({"sub":"ann","exp":1800000100,"nbf":[1700000000]})",
        R"({"sub":"ann","exp":1800000100,"iat":"1700000000"})",
        R"({"sub":"ann","exp":1800000100,"iat":true})",
        R"({"sub":"ann","exp":1800000100,"aud":[]})",
        R"({"sub":"ann","exp":1800000100,"aud":{"a":1}})",
        R"({"sub":"ann","exp":1800000100,"aud":["a",1]})", R"([])", R"("x")", "", "{",
        "{\"sub\":\"\xff\",\"exp\":1800000100}"}) {
    EXPECT_EQ(reason_of_claims(claims), Reason::malformed_claims) << claims;
  }
}

TEST(TokenAttack, a_refusal_shows_nothing_that_could_forge_a_line_of_the_log) {
  const auto refused = verify_jws(token_of("{\"alg\":\"a\\nb\\u001b[31m'\"}", "{}"), secret_keys());
  ASSERT_FALSE(refused.has_value());
  for (const char c : refused.error().describe()) EXPECT_GE(c, ' ');
  EXPECT_EQ(shown(std::string(100, 'a')).size(), 64 + 2 + Bytes("…").size());
}

TEST(TokenAttack, a_header_that_is_no_object_is_refused) {
  for (const Bytes header : {"[]", "5", "null", R"("HS256")"}) {
    EXPECT_EQ(reason_of(token_of(header, "{}"), secret_keys()), Reason::malformed_header) << header;
  }
}

TEST(TokenAttack, a_key_without_an_id_is_tried_for_every_id) {
  const std::string token = token_of(R"({"alg":"HS256","kid":"any"})", "{}");
  EXPECT_TRUE(verify_jws(token, secret_keys()).has_value());
}

TEST(TokenAttack, one_right_key_suffices_wherever_it_stands) {
  const auto right = *VerificationKey::from_secret(Algorithm::hs256, secret);
  const auto wrong = *VerificationKey::from_secret(Algorithm::hs256, std::string(32, 'x'));
  const std::string token = token_of(R"({"alg":"HS256"})", "{}");
  for (const std::vector<VerificationKey>& keys :
       {std::vector{right, wrong}, std::vector{wrong, right}, std::vector{wrong, right, wrong}}) {
    EXPECT_TRUE(verify_jws(token, keys).has_value());
  }
}

TEST(TokenAttack, a_refusal_has_a_detail_only_if_there_is_one) {
  EXPECT_FALSE(Refusal{Reason::malformed}.describe().contains(": "));
  EXPECT_TRUE((Refusal{Reason::malformed, "why"}).describe().ends_with(": why"));
  const auto token =
      verify_jwt(token_of(R"({"alg":"HS256"})", R"({"aud":[]})"), secret_keys(), {}, now);
  ASSERT_FALSE(token);
  EXPECT_TRUE(token.error().describe().contains("aud is an empty list"))
      << token.error().describe();
}

}  // namespace
}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
