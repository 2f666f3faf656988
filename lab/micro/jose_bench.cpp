// What does a verified token cost? Compared are KATANA's verification and OpenSSL alone, which gets
// the signed bytes and the decoded signature. OpenSSL runs with contexts that are kept, and as most
// programs call it.
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <string>

#include "katana/base/values/base64.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/identity/jose/vectors_test.hpp"
#include "lab/micro/micro.hpp"

namespace {

using namespace katana;
using namespace katana::jose;

constexpr Timestamp now = Timestamp(std::chrono::seconds(1'800'000'000));

const unsigned char* octets(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

struct Parts {
  std::string input;
  std::string signature;
};
Parts parts_of(Bytes token) {
  const std::size_t dot = token.rfind('.');
  return {std::string(token.substr(0, dot)), *decode_base64url(token.substr(dot + 1))};
}

std::string token_of(const SigningKey& key) {
  Claims claims = {.issuer = "https://id.example/realms/main",
                   .subject = "7b0f0ad2-8c6c-4e0e-9f4c-0a1b2c3d4e5f",
                   .audiences = {"https://api.example"},
                   .id = "4d6b3a52-1b7e-4a9b-8c89-3f1f0a2b9c11",
                   .expires_at = now + std::chrono::minutes(10),
                   .issued_at = now};
  claims.others = {{"scope", "read write"}, {"name", "Ann Example"}};
  return *sign_jwt(key, claims, "at+jwt");
}

// The signature as OpenSSL takes it: of ECDSA in DER.
std::string native_signature(const Parts& parts, bool is_ecdsa) {
  if (!is_ecdsa) return parts.signature;
  const auto integer = [](Bytes digits) {
    while (digits.size() > 1 && digits.front() == '\0') digits.remove_prefix(1);
    std::string made;
    if ((digits.front() & 0x80) != 0) made.push_back('\0');
    made += digits;
    return "\x02" + std::string(1, static_cast<char>(made.size())) + made;
  };
  const Bytes both = parts.signature;
  const std::string integers = integer(both.substr(0, 32)) + integer(both.substr(32));
  return "\x30" + std::string(1, static_cast<char>(integers.size())) + integers;
}

void ask_key_pair(micro::Suite& suite, Bytes name, Bytes jwk, Algorithm algorithm) {
  const SigningKey key = *read_private_jwk(jwk, {algorithm});
  const std::array keys = {key.verification_key()};
  const std::string token = token_of(key);
  const Parts parts = parts_of(token);
  const bool is_ecdsa = family_of(algorithm) == Family::ecdsa;
  const std::string signature = native_signature(parts, is_ecdsa);
  EVP_PKEY* const native = keys.front().native();
  const TokenRules rules = {.issuers = {"https://id.example/realms/main"},
                            .audiences = {"https://api.example"}};
  const std::uint64_t operations = suite.operations(10'000);

  EVP_PKEY_CTX* const context = EVP_PKEY_CTX_new_from_pkey(nullptr, native, nullptr);
  EVP_PKEY_verify_init(context);
  EVP_PKEY_CTX_set_signature_md(context, EVP_sha256());
  EVP_MD* const hash = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  EVP_MD_CTX* const hashing = EVP_MD_CTX_new();

  const auto repeated = [operations](auto&& verify) {
    return micro::time_operations(operations, [&] {
      for (std::uint64_t count = 0; count < operations; ++count) {
        micro::expect(verify(), "a right signature");
      }
    });
  };
  const std::string question(name);
  const auto* answers = suite.ask(
      {question + ": a token is verified", "ns"},
      {{"katana, claims read and judged",
        [&] { return repeated([&] { return verify_jwt(token, keys, rules, now).has_value(); }); }},
       {"katana, signature",
        [&] { return repeated([&] { return verify_jws(token, keys).has_value(); }); }},
       {"OpenSSL, contexts kept",
        [&] {
          return repeated([&] {
            std::array<unsigned char, 32> digest;
            unsigned size = 0;
            EVP_DigestInit_ex2(hashing, hash, nullptr);
            EVP_DigestUpdate(hashing, parts.input.data(), parts.input.size());
            EVP_DigestFinal_ex(hashing, digest.data(), &size);
            return EVP_PKEY_verify(context, octets(signature), signature.size(), digest.data(),
                                   size) == 1;
          });
        }},
       {"OpenSSL, a context for each", [&] {
          return repeated([&] {
            EVP_MD_CTX* const each = EVP_MD_CTX_new();
            const bool is_right =
                EVP_DigestVerifyInit(each, nullptr, EVP_sha256(), nullptr, native) == 1 &&
                EVP_DigestVerify(each, octets(signature), signature.size(), octets(parts.input),
                                 parts.input.size()) == 1;
            EVP_MD_CTX_free(each);
            return is_right;
          });
        }}});
  suite.target(question + ": a signature at most 1.15 x OpenSSL with contexts kept", answers,
               "katana, signature", "OpenSSL, contexts kept", 1.15, micro::at_most);
  suite.target(question + ": a token at most 1.15 x OpenSSL with a context for each", answers,
               "katana, claims read and judged", "OpenSSL, a context for each", 1.15,
               micro::at_most);
}

void ask_secret(micro::Suite& suite) {
  static constexpr Bytes secret = "4f8a61c0d97be2350a6f18c4e7d29b53";
  const SigningKey key = *SigningKey::from_secret(Algorithm::hs256, secret);
  const std::array keys = {key.verification_key()};
  const std::string token = token_of(key);
  const Parts parts = parts_of(token);
  const TokenRules rules = {.issuers = {"https://id.example/realms/main"},
                            .audiences = {"https://api.example"}};
  const std::uint64_t operations = suite.operations(100'000);
  const auto repeated = [operations](auto&& verify) {
    return micro::time_operations(operations, [&] {
      for (std::uint64_t count = 0; count < operations; ++count) {
        micro::expect(verify(), "a right signature");
      }
    });
  };
  suite.ask(
      {"HS256: a token is verified", "ns"},
      {{"katana, claims read and judged",
        [&] { return repeated([&] { return verify_jwt(token, keys, rules, now).has_value(); }); }},
       {"katana, signature",
        [&] { return repeated([&] { return verify_jws(token, keys).has_value(); }); }},
       {"OpenSSL, HMAC()", [&] {
          return repeated([&] {
            std::array<unsigned char, 32> mac;
            unsigned size = 0;
            HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), octets(parts.input),
                 parts.input.size(), mac.data(), &size);
            return Bytes(reinterpret_cast<const char*>(mac.data()), size) == parts.signature;
          });
        }}});
}

}  // namespace

int main(int count, char** arguments) {
  micro::Suite suite("jose", count, arguments);
  ask_key_pair(suite, "RS256", vectors::rfc7520_rsa_private, Algorithm::rs256);
  ask_key_pair(suite, "ES256", vectors::rfc7515_p256, Algorithm::es256);
  ask_secret(suite);
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
