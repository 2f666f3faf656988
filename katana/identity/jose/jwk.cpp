#include "katana/identity/jose/jwk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "katana/base/values/base64.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/identity/jose/refusal.hpp"

namespace katana::jose {
namespace {

using container::Kind;
using container::Object;
using container::Value;

std::unexpected<Error> unusable(std::string words) {
  return fail(Code::invalid_argument, std::move(words));
}

// The text of a member; empty: it is missing.
Result<Bytes> text_of(const Object& jwk, Bytes name) {
  const Value* const member = jwk.find(name);
  if (member == nullptr) return Bytes();
  if (member->kind() != Kind::text) return unusable(fmt::format("'{}' is no string", name));
  return Bytes(member->as_text());
}

// The decoded bytes of a required member.
Result<std::string> octets_of(const Object& jwk, Bytes name) {
  const auto text = text_of(jwk, name);
  if (!text) return std::unexpected(text.error());
  auto octets = decode_base64url(*text);
  if (octets && !octets->empty()) return *std::move(octets);
  return unusable(fmt::format("'{}' is missing or no base64url", name));
}

// Collects the parameters of EVP_PKEY_fromdata().
class Parameters {
 public:
  Parameters() : builder_(OSSL_PARAM_BLD_new()) {}

  Result<void> add_number(const char* to, const Object& jwk, Bytes name) {
    auto octets = octets_of(jwk, name);
    if (!octets) return std::unexpected(std::move(octets.error()));
    detail::OwnedNumber number(
        BN_bin2bn(detail::octets(Bytes(*octets)), static_cast<int>(octets->size()), nullptr));
    erase_secret(*octets);
    // Without the flag a private part would be copied to memory that is not overwritten.
    BN_set_flags(number.get(), BN_FLG_CONSTTIME);
    OSSL_PARAM_BLD_push_BN(builder_.get(), to, number.get());
    numbers_.push_back(std::move(number));
    return {};
  }
  void add_text(const char* to, const char* text) {
    OSSL_PARAM_BLD_push_utf8_string(builder_.get(), to, text, 0);
  }
  void add_octets(const char* to, Bytes octets) {
    OSSL_PARAM_BLD_push_octet_string(builder_.get(), to, octets.data(), octets.size());
  }
  Result<detail::OwnedKey> make(const char* type, bool with_private_part) {
    const detail::OwnedParameters parameters(OSSL_PARAM_BLD_to_param(builder_.get()));
    const detail::OwnedKeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* key = nullptr;
    if (parameters && context && EVP_PKEY_fromdata_init(context.get()) == 1 &&
        EVP_PKEY_fromdata(context.get(), &key,
                          with_private_part ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY,
                          parameters.get()) == 1) {
      return detail::OwnedKey(key);
    }
    return unusable(fmt::format("is no {} key: {}", type, detail::last_error()));
  }

 private:
  detail::OwnedBuilder builder_;
  std::vector<detail::OwnedNumber> numbers_;  // borrowed by the builder
};

Result<detail::OwnedKey> rsa_key(const Object& jwk, bool with_private_part) {
  using Names = std::pair<const char*, const char*>;
  static constexpr std::array<Names, 2> of_public = {
      {{OSSL_PKEY_PARAM_RSA_N, "n"}, {OSSL_PKEY_PARAM_RSA_E, "e"}}};
  static constexpr std::array<Names, 6> of_private = {{{OSSL_PKEY_PARAM_RSA_D, "d"},
                                                       {OSSL_PKEY_PARAM_RSA_FACTOR1, "p"},
                                                       {OSSL_PKEY_PARAM_RSA_FACTOR2, "q"},
                                                       {OSSL_PKEY_PARAM_RSA_EXPONENT1, "dp"},
                                                       {OSSL_PKEY_PARAM_RSA_EXPONENT2, "dq"},
                                                       {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, "qi"}}};
  Parameters parameters;
  for (const auto& [to, name] : of_public) {
    if (auto added = parameters.add_number(to, jwk, name); !added) {
      return std::unexpected(std::move(added.error()));
    }
  }
  if (with_private_part) {
    for (const auto& [to, name] : of_private) {
      if (auto added = parameters.add_number(to, jwk, name); !added) {
        return std::unexpected(std::move(added.error()));
      }
    }
  }
  return parameters.make("RSA", with_private_part);
}

struct Curve {
  Bytes name;
  const char* group;
  Algorithm algorithm;
};
constexpr std::array<Curve, 3> curves = {{{"P-256", "P-256", Algorithm::es256},
                                          {"P-384", "P-384", Algorithm::es384},
                                          {"P-521", "P-521", Algorithm::es512}}};

Result<detail::OwnedKey> ec_key(const Object& jwk, bool with_private_part) {
  const auto name = text_of(jwk, "crv");
  if (!name) return std::unexpected(name.error());
  const auto curve = std::ranges::find(curves, *name, &Curve::name);
  if (curve == curves.end()) return unusable("has a curve that is not P-256, P-384 or P-521");
  const std::size_t size = coordinate_bytes(curve->algorithm);
  std::string point = "\x04";
  for (const Bytes coordinate : {"x", "y"}) {
    const auto octets = octets_of(jwk, coordinate);
    if (!octets) return std::unexpected(octets.error());
    if (octets->size() != size) {
      return unusable(fmt::format("'{}' has {} bytes, and {} has {} (RFC 7518 §6.2.1.2)",
                                  coordinate, octets->size(), *name, size));
    }
    point += *octets;
  }
  Parameters parameters;
  parameters.add_text(OSSL_PKEY_PARAM_GROUP_NAME, curve->group);
  parameters.add_octets(OSSL_PKEY_PARAM_PUB_KEY, point);
  if (with_private_part) {
    if (auto added = parameters.add_number(OSSL_PKEY_PARAM_PRIV_KEY, jwk, "d"); !added) {
      return std::unexpected(std::move(added.error()));
    }
  }
  return parameters.make("EC", with_private_part);
}

Result<detail::OwnedKey> edwards_key(const Object& jwk, bool with_private_part) {
  const auto name = text_of(jwk, "crv");
  if (!name) return std::unexpected(name.error());
  if (*name != "Ed25519" && *name != "Ed448") {
    return unusable("has a curve that is not Ed25519 or Ed448");
  }
  const char* const type = *name == "Ed25519" ? "ED25519" : "ED448";
  auto octets = octets_of(jwk, with_private_part ? "d" : "x");
  if (!octets) return std::unexpected(std::move(octets.error()));
  const auto make =
      with_private_part ? EVP_PKEY_new_raw_private_key_ex : EVP_PKEY_new_raw_public_key_ex;
  detail::OwnedKey key(
      make(nullptr, type, nullptr, detail::octets(Bytes(*octets)), octets->size()));
  erase_secret(*octets);
  if (key) return key;
  return unusable(fmt::format("is no {} key: {}", *name, detail::last_error()));
}

bool fits(Algorithm algorithm, Bytes type, Bytes curve) {
  switch (family_of(algorithm)) {
    case Family::hmac: return type == "oct";
    case Family::rsa:
    case Family::rsa_pss: return type == "RSA";
    case Family::ecdsa: {
      const auto found = std::ranges::find(curves, curve, &Curve::name);
      return type == "EC" && found != curves.end() && found->algorithm == algorithm;
    }
    case Family::eddsa: break;
  }
  return type == "OKP";
}

// Fails if the key is not for this operation on signatures.
Result<void> check_use(const Object& jwk, Bytes operation) {
  const auto use = text_of(jwk, "use");
  if (!use) return std::unexpected(use.error());
  if (!use->empty() && *use != "sig") return unusable("is not for signatures: see its 'use'");
  const Value* const operations = jwk.find("key_ops");
  if (operations == nullptr) return {};
  const container::List* const list = operations->get_list();
  if (list != nullptr && std::ranges::find(*list, Value(operation)) != list->end()) return {};
  return unusable(fmt::format("its 'key_ops' have no '{}'", operation));
}

Result<Algorithm> algorithm_of(const Object& jwk, Bytes type,
                               const std::vector<Algorithm>& allowed) {
  const auto said = text_of(jwk, "alg");
  const auto curve = text_of(jwk, "crv");
  if (!said || !curve) return unusable("'alg' or 'crv' is no string");
  for (const Algorithm algorithm : allowed) {
    if (said->empty() ? fits(algorithm, type, *curve) : name_of(algorithm) == *said) {
      return algorithm;
    }
  }
  return unusable(fmt::format("no allowed algorithm fits: 'kty' is {}, 'alg' is {}", shown(type),
                              shown(*said)));
}

Result<std::string> id_of(const Object& jwk) {
  const auto id = text_of(jwk, "kid");
  if (!id) return std::unexpected(id.error());
  if (id->size() > key_id_bytes_max) {
    return unusable(fmt::format("'kid' has more than {} bytes", key_id_bytes_max));
  }
  return std::string(*id);
}

Result<Object> object_of(Bytes json) {
  const container::ReadOptions options = {.bytes_max = jwk_set_bytes_max, .depth_max = 8};
  auto value = container::read_json<Value>(json, options);
  if (!value) return std::unexpected(value.error().within("read a JSON Web Key"));
  if (value->get_object() == nullptr) return unusable("a JSON Web Key is an object of JSON");
  return std::move(value->as_object());
}

}  // namespace

Result<std::shared_ptr<const detail::Signer>> JwkReader::signer(const Object& jwk,
                                                                bool with_private_part) const {
  const auto type = text_of(jwk, "kty");
  if (!type) return std::unexpected(type.error());
  if (auto checked = check_use(jwk, with_private_part ? "sign" : "verify"); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const auto algorithm = algorithm_of(jwk, *type, allowed_);
  if (!algorithm) return std::unexpected(algorithm.error());
  if (*type == "oct") {
    auto secret = octets_of(jwk, "k");
    if (!secret) return std::unexpected(std::move(secret.error()));
    auto made = detail::make_signer(*algorithm, Bytes(*secret), with_private_part);
    erase_secret(*secret);
    return made;
  }
  Result<detail::OwnedKey> key = unusable("'kty' is not RSA, EC, OKP or oct");
  if (*type == "RSA") key = rsa_key(jwk, with_private_part);
  if (*type == "EC") key = ec_key(jwk, with_private_part);
  if (*type == "OKP") key = edwards_key(jwk, with_private_part);
  if (!key) return std::unexpected(std::move(key.error()));
  return detail::make_signer(*algorithm, *std::move(key), with_private_part);
}

Result<VerificationKey> JwkReader::verification_key(const Object& jwk) const {
  auto id = id_of(jwk);
  if (!id) return std::unexpected(std::move(id.error()));
  auto made = signer(jwk, false);
  if (!made) return std::unexpected(std::move(made.error()));
  return VerificationKey(*std::move(made), *std::move(id));
}

Result<SigningKey> JwkReader::signing_key(const Object& jwk) const {
  auto id = id_of(jwk);
  if (!id) return std::unexpected(std::move(id.error()));
  auto made = signer(jwk, true);
  if (!made) return std::unexpected(std::move(made.error()));
  return SigningKey(*std::move(made), *std::move(id));
}

Result<VerificationKey> read_jwk(Bytes json, const std::vector<Algorithm>& allowed) {
  const auto jwk = object_of(json);
  if (!jwk) return std::unexpected(jwk.error());
  return JwkReader(allowed).verification_key(*jwk);
}

Result<SigningKey> read_private_jwk(Bytes json, const std::vector<Algorithm>& allowed) {
  const auto jwk = object_of(json);
  if (!jwk) return std::unexpected(jwk.error());
  return JwkReader(allowed).signing_key(*jwk);
}

Result<JwkSet> read_jwk_set(Bytes json, const std::vector<Algorithm>& allowed) {
  const auto object = object_of(json);
  if (!object) return std::unexpected(object.error());
  const Value* const keys = object->find("keys");
  const container::List* const list = keys != nullptr ? keys->get_list() : nullptr;
  if (list == nullptr) return unusable("a JSON Web Key Set has a list 'keys' (RFC 7517 §5)");
  if (list->size() > keys_max) {
    return unusable(
        fmt::format("the set has {} keys, at most {} are read", list->size(), keys_max));
  }
  const JwkReader reader(allowed);
  JwkSet set;
  for (const Value& jwk : *list) {
    const std::size_t number = set.keys.size() + set.passed_over.size() + 1;
    if (jwk.get_object() == nullptr) {
      set.passed_over.push_back(fmt::format("key {}: is no object of JSON", number));
      continue;
    }
    auto key = reader.verification_key(*jwk.get_object());
    if (key) {
      set.keys.push_back(*std::move(key));
      continue;
    }
    const auto id = text_of(*jwk.get_object(), "kid");
    set.passed_over.push_back(
        fmt::format("key {} ({}): {}", number, shown(id.value_or("")), key.error().describe()));
  }
  if (!set.keys.empty()) return set;
  std::string words = "the set has no usable key";
  if (!set.passed_over.empty()) words += ": " + set.passed_over.front();
  return unusable(std::move(words));
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
