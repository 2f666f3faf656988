#include "katana/identity/jose/key.hpp"

#include <fmt/format.h>
#include <openssl/pem.h>

#include <array>
#include <optional>
#include <set>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::jose {
namespace {

using detail::Signer;

std::string number_of(const EVP_PKEY* key, const char* name) {
  BIGNUM* found = nullptr;
  KATANA_CHECK(EVP_PKEY_get_bn_param(key, name, &found) == 1);
  const detail::OwnedNumber number(found);
  std::string octets(static_cast<std::size_t>(BN_num_bytes(number.get())), '\0');
  BN_bn2bin(number.get(), detail::octets(octets));
  return octets;
}

std::string padded(std::string octets, std::size_t size) {
  return std::string(size - octets.size(), '\0') + octets;
}

// The required members, in the order and the form that RFC 7638 §3 hashes, without braces.
std::string required_members(const Signer& signer) {
  const EVP_PKEY* const key = signer.key();
  switch (family_of(signer.algorithm())) {
    case Family::hmac:
      return fmt::format(R"("k":"{}","kty":"oct")", encode_base64url(signer.secret().reveal()));
    case Family::rsa:
    case Family::rsa_pss:
      return fmt::format(R"("e":"{}","kty":"RSA","n":"{}")",
                         encode_base64url(number_of(key, OSSL_PKEY_PARAM_RSA_E)),
                         encode_base64url(number_of(key, OSSL_PKEY_PARAM_RSA_N)));
    case Family::ecdsa: {
      const std::size_t size = coordinate_bytes(signer.algorithm());
      return fmt::format(R"("crv":"P-{}","kty":"EC","x":"{}","y":"{}")",
                         size == 66 ? 521 : size * 8,
                         encode_base64url(padded(number_of(key, OSSL_PKEY_PARAM_EC_PUB_X), size)),
                         encode_base64url(padded(number_of(key, OSSL_PKEY_PARAM_EC_PUB_Y), size)));
    }
    case Family::eddsa: break;
  }
  std::string point(64, '\0');
  std::size_t size = point.size();
  KATANA_CHECK(EVP_PKEY_get_raw_public_key(key, detail::octets(point), &size) == 1);
  point.resize(size);
  return fmt::format(R"("crv":"{}","kty":"OKP","x":"{}")",
                     EVP_PKEY_is_a(key, "ED448") == 1 ? "Ed448" : "Ed25519",
                     encode_base64url(point));
}

// A long exponent would make each verification as slow as a signature.
std::string rsa_misfit_of(const EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  if (bits < rsa_bits_min || bits > rsa_bits_max) {
    return fmt::format("takes an RSA key of {} to {} bits (RFC 7518 §3.3), and this one has {}",
                       rsa_bits_min, rsa_bits_max, bits);
  }
  const auto is_odd = [](const std::string& number) { return (number.back() & 1) != 0; };
  const std::string exponent = number_of(key, OSSL_PKEY_PARAM_RSA_E);
  if (exponent.size() <= 8 && exponent > std::string("\x01") && is_odd(exponent) &&
      is_odd(number_of(key, OSSL_PKEY_PARAM_RSA_N))) {
    return {};
  }
  return "takes an RSA key with an odd modulus and an odd exponent of 2 to 64 bits";
}

// The reason why a key does not fit an algorithm; empty: it fits.
std::string misfit_of(Algorithm algorithm, const EVP_PKEY* key) {
  const auto is_a = [key](const char* type) { return EVP_PKEY_is_a(key, type) == 1; };
  switch (family_of(algorithm)) {
    case Family::hmac: return "takes a secret, not a public or private key";
    case Family::rsa:
    case Family::rsa_pss: return is_a("RSA") ? rsa_misfit_of(key) : "takes an RSA key";
    case Family::ecdsa: {
      std::array<char, 32> group = {};
      std::size_t size = 0;
      if (!is_a("EC") || EVP_PKEY_get_group_name(key, group.data(), group.size(), &size) != 1) {
        return "takes an elliptic curve key on a named curve";
      }
      const Bytes name(group.data(), size);
      const bool fits = algorithm == Algorithm::es256   ? name == "prime256v1" || name == "P-256"
                        : algorithm == Algorithm::es384 ? name == "secp384r1" || name == "P-384"
                                                        : name == "secp521r1" || name == "P-521";
      if (fits) return {};
      return fmt::format("takes a key on another curve than {} (RFC 7518 §3.4)", name);
    }
    case Family::eddsa: break;
  }
  return is_a("ED25519") || is_a("ED448") ? "" : "takes an Ed25519 or Ed448 key";
}

std::unexpected<Error> no_pem(Bytes what) {
  return fail(Code::invalid_argument,
              fmt::format("no PEM of a {} key: {}", what, detail::last_error()));
}

// True if the text is made of copies of its beginning, the last of which may be cut.
bool repeats_itself(Bytes text) {
  for (std::size_t period = 1; period <= text.size() / 2; ++period) {
    if (text.substr(period) == text.substr(0, text.size() - period)) return true;
  }
  return false;
}

// True for a text that a person may have thought of, which guesses find (RFC 8725 §3.5). Random
// bytes are no UTF-8. Random text is base64, base32 or hexadecimal: it has letters of both cases,
// or letters and digits, and no spaces.
bool looks_like_password(Bytes secret) {
  constexpr std::size_t different_min = 8;  // 32 random hexadecimal digits have 13 or 14
  if (std::set<char>(secret.begin(), secret.end()).size() < different_min) return true;
  if (repeats_itself(secret)) return true;
  if (!is_utf8(secret)) return false;
  const auto has = [secret](Bytes characters) {
    return secret.find_first_of(characters) != Bytes::npos;
  };
  const int kinds = int{has("abcdefghijklmnopqrstuvwxyz")} +
                    int{has("ABCDEFGHIJKLMNOPQRSTUVWXYZ")} + int{has("0123456789")};
  return kinds < 2 || has(" \t\r\n");
}

// A key with a password is refused, not asked for at the terminal.
int refuse_password(char*, int, int, void*) { return -1; }

}  // namespace

namespace detail {

Result<std::shared_ptr<const Signer>> make_signer(Algorithm algorithm, OwnedKey key,
                                                  bool has_private_part) {
  const std::string misfit = misfit_of(algorithm, key.get());
  ERR_clear_error();
  if (!misfit.empty()) {
    return fail(Code::invalid_argument, fmt::format("{} {}", name_of(algorithm), misfit));
  }
  const OwnedKeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  // RSA is left out: OpenSSL searches for small factors at random, with varying results for one
  // key.
  const bool is_sound =
      context &&
      (family_of(algorithm) != Family::ecdsa || EVP_PKEY_public_check(context.get()) == 1) &&
      (!has_private_part || EVP_PKEY_pairwise_check(context.get()) == 1);
  if (!is_sound) {
    return fail(Code::invalid_argument,
                fmt::format("the {} key is not sound: {}", name_of(algorithm), last_error()));
  }
  return std::make_shared<const Signer>(algorithm, std::move(key), has_private_part);
}

Result<std::shared_ptr<const Signer>> make_signer(Algorithm algorithm, Bytes secret, bool signs) {
  if (family_of(algorithm) != Family::hmac) {
    return fail(Code::invalid_argument,
                fmt::format("{} takes a key pair, not a secret", name_of(algorithm)));
  }
  if (secret.size() < hash_bytes(algorithm) || secret.size() > secret_bytes_max) {
    return fail(
        Code::invalid_argument,
        fmt::format("{} takes a secret of {} to {} bytes (RFC 7518 §3.2), and this one "
                    "has {}",
                    name_of(algorithm), hash_bytes(algorithm), secret_bytes_max, secret.size()));
  }
  if (signs && looks_like_password(secret)) {
    return fail(
        Code::invalid_argument,
        fmt::format(
            "{} signs with a secret that is a password, has white space or repeats itself "
            "(RFC 8725 §3.5). Make it of random bytes, such as by `openssl rand -hex 32`, without "
            "a line end",
            name_of(algorithm)));
  }
  return std::make_shared<const Signer>(algorithm, SecretText(secret));
}

}  // namespace detail

Result<VerificationKey> VerificationKey::from_pem(Algorithm algorithm, Bytes pem, std::string id) {
  const detail::OwnedBio reader(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  detail::OwnedKey key(PEM_read_bio_PUBKEY(reader.get(), nullptr, refuse_password, nullptr));
  if (!key) return no_pem("public");
  auto signer = detail::make_signer(algorithm, std::move(key), false);
  if (!signer) return std::unexpected(std::move(signer.error()));
  return VerificationKey(*std::move(signer), std::move(id));
}

Result<VerificationKey> VerificationKey::from_secret(Algorithm algorithm, Bytes secret,
                                                     std::string id) {
  auto signer = detail::make_signer(algorithm, secret, false);
  if (!signer) return std::unexpected(std::move(signer.error()));
  return VerificationKey(*std::move(signer), std::move(id));
}

std::string VerificationKey::jwk() const {
  KATANA_REQUIRE(family_of(algorithm()) != Family::hmac);
  std::string members = required_members(*signer_);
  if (!id_.empty()) {
    members += R"(,"kid":)";
    container::write_json(id_, members);
  }
  return fmt::format(R"({{{},"alg":"{}","use":"sig"}})", members, name_of(algorithm()));
}

std::string VerificationKey::thumbprint() const {
  std::string members = "{" + required_members(*signer_) + "}";
  const crypto::Sha256 hash = crypto::sha256(members);
  erase_secret(members);  // those of an HMAC key contain the secret
  return encode_base64url(hash.bytes());
}

Result<SigningKey> SigningKey::from_pem(Algorithm algorithm, Bytes pem, std::string id) {
  const detail::OwnedBio reader(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  detail::OwnedKey key(PEM_read_bio_PrivateKey(reader.get(), nullptr, refuse_password, nullptr));
  if (!key) return no_pem("private");
  auto signer = detail::make_signer(algorithm, std::move(key), true);
  if (!signer) return std::unexpected(std::move(signer.error()));
  return SigningKey(*std::move(signer), std::move(id));
}

Result<SigningKey> SigningKey::from_secret(Algorithm algorithm, Bytes secret, std::string id) {
  auto signer = detail::make_signer(algorithm, secret, true);
  if (!signer) return std::unexpected(std::move(signer.error()));
  return SigningKey(*std::move(signer), std::move(id));
}

Result<std::string> SigningKey::sign(Bytes input) const {
  std::string signature = signer_->sign(input);
  if (!signature.empty()) return signature;
  return fail(Code::internal,
              fmt::format("OpenSSL cannot sign with the {} key '{}'", name_of(algorithm()), id_));
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
