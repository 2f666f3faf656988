#include "katana/identity/jose/jws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "katana/base/values/base64.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/identity/jose/jwk.hpp"

namespace katana::jose {
namespace {

using container::Kind;
using container::Object;
using container::Value;

// The parts between the dots, still encoded.
struct Parts {
  Bytes header;
  Bytes payload;
  Bytes signature;
  Bytes signed_input;  // header and payload with their dot (RFC 7515 §5.2)
};

std::optional<Parts> split(Bytes token) noexcept {
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == Bytes::npos || first == last) return std::nullopt;
  return Parts{token.substr(0, first), token.substr(first + 1, last - first - 1),
               token.substr(last + 1), token.substr(0, last)};
}

// Copies a member if it is present; false: it is present and no text.
bool take_text(const Object& from, Bytes name, std::string& to) {
  const Value* const member = from.find(name);
  if (member == nullptr) return true;
  if (member->kind() != Kind::text) return false;
  to = member->as_text();
  return true;
}

Verified<Header> read_header(Bytes text) {
  const auto json = decode_base64url(text);
  if (!json) return refuse(Reason::malformed);
  const container::ReadOptions options = {.bytes_max = token_bytes_max,
                                          .depth_max = token_depth_max};
  const auto value = container::read_json<Value>(*json, options);
  if (!value) return refuse(Reason::malformed_header, shown(value.error().describe()));
  const Object* const object = value->get_object();
  if (object == nullptr) return refuse(Reason::malformed_header);
  Header header;
  std::string algorithm;
  if (!take_text(*object, "alg", algorithm) || !take_text(*object, "kid", header.key_id) ||
      !take_text(*object, "typ", header.type) || !take_text(*object, "cty", header.content_type)) {
    return refuse(Reason::malformed_header, "alg, kid, typ or cty is no string");
  }
  if (object->find("crit") != nullptr) return refuse(Reason::critical_extension);
  const auto known = algorithm_from(algorithm);
  if (!known) return refuse(Reason::algorithm_refused, shown(algorithm));
  header.algorithm = *known;
  if (header.key_id.size() > key_id_bytes_max) {
    return refuse(Reason::malformed_header, "kid is too long");
  }
  return header;
}

bool may_be(const VerificationKey& key, const Header& header) noexcept {
  return key.algorithm() == header.algorithm &&
         (key.id().empty() || header.key_id.empty() || key.id() == header.key_id);
}

// True if a key with any algorithm may have the id.
bool knows_id(std::span<const VerificationKey> keys, const Header& header) {
  return std::ranges::any_of(keys, [&](const VerificationKey& key) {
    return key.id().empty() || header.key_id.empty() || key.id() == header.key_id;
  });
}

}  // namespace

Verified<SignedContent> verify_jws(Bytes token, std::span<const VerificationKey> keys) {
  if (token.size() > token_bytes_max) return refuse(Reason::too_long);
  const auto parts = split(token);
  if (!parts) return refuse(Reason::malformed);
  // An additional dot is part of the payload, and no base64url.
  if (parts->payload.contains('.')) return refuse(Reason::malformed);
  auto header = read_header(parts->header);
  if (!header) return std::unexpected(std::move(header.error()));
  const auto signature = decode_base64url(parts->signature);
  if (!signature) return refuse(Reason::malformed);

  std::size_t tried = 0;
  bool is_right = false;
  for (const VerificationKey& key : keys) {
    if (!may_be(key, *header)) continue;
    is_right = key.verify(parts->signed_input, *signature);
    if (is_right || ++tried == keys_tried_max) break;
  }
  if (!is_right) {
    std::string which =
        fmt::format("{} with kid {}", name_of(header->algorithm), shown(header->key_id));
    if (tried > 0) return refuse(Reason::wrong_signature, std::move(which));
    return refuse(knows_id(keys, *header) && !keys.empty() && !header->key_id.empty()
                      ? Reason::algorithm_refused
                      : Reason::unknown_key,
                  std::move(which));
  }
  auto payload = decode_base64url(parts->payload);
  if (!payload) return refuse(Reason::malformed);
  return SignedContent{*std::move(header), *std::move(payload)};
}

Result<std::string> sign_jws(const SigningKey& key, Bytes payload, Bytes type) {
  Object header = {{"alg", name_of(key.algorithm())}};
  if (!key.id().empty()) header.add("kid", key.id());
  if (!type.empty()) header.add("typ", type);
  std::string token = encode_base64url(container::to_json(Value(std::move(header)))) + "." +
                      encode_base64url(payload);
  auto signature = key.sign(token);
  if (!signature) return std::unexpected(std::move(signature.error()));
  token += ".";
  token += encode_base64url(*signature);
  return token;
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
