#include "katana/identity/jose/jwt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::jose {
namespace {

using container::Kind;
using container::List;
using container::Object;
using container::Value;

// The last second of the year 9999. Later times, and those before 1970, are a mistake or an attack
// on arithmetic.
constexpr std::int64_t second_max = 253'402'300'799;

bool is_one_of(Bytes text, const std::vector<std::string>& list) {
  return std::ranges::find(list, text) != list.end();
}

std::string lower(Bytes text) {
  std::string made(text);
  for (char& c : made) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return made;
}

Verified<void> check_type(const Header& header, const TokenRules& rules) {
  if (!header.content_type.empty()) {  // a token within the token, or something else
    return refuse(Reason::wrong_type, "cty is " + shown(header.content_type));
  }
  if (header.type.empty() && !rules.is_type_required) return {};
  std::string type = lower(header.type);
  if (type.starts_with("application/")) type.erase(0, 12);
  const bool is_allowed = std::ranges::any_of(
      rules.types, [&](const std::string& allowed) { return lower(allowed) == type; });
  if (is_allowed) return {};
  return refuse(Reason::wrong_type, "typ is " + shown(header.type));
}

// RFC 7519 §4.1.
bool is_registered(Bytes claim) noexcept {
  constexpr std::array<Bytes, 7> registered = {"iss", "sub", "aud", "exp", "nbf", "iat", "jti"};
  return std::ranges::find(registered, claim) != registered.end();
}

// Removes the registered claims from the object. The other claims remain.
class ClaimReader {
 public:
  explicit ClaimReader(Object& from) : from_(from) {}

  void text(Bytes name, std::string& to) {
    Value* const claim = from_.find(name);
    if (claim == nullptr) return;
    if (claim->kind() != Kind::text) return note(name, "is no string");
    to = claim->as_text();
    from_.erase(name);
  }
  // Text or a list of texts (RFC 7519 §4.1.3).
  void texts(Bytes name, std::vector<std::string>& to) {
    const Value* const claim = from_.find(name);
    if (claim == nullptr) return;
    if (claim->kind() == Kind::text) to.push_back(claim->as_text());
    if (claim->kind() != Kind::text && claim->kind() != Kind::list) {
      return note(name, "is no string or list of strings");
    }
    if (const List* const list = claim->get_list()) {
      for (const Value& item : *list) {
        if (item.kind() != Kind::text) return note(name, "is no list of strings");
        to.push_back(item.as_text());
      }
    }
    // An empty list is refused: it permits no audience, unlike a missing list.
    if (to.empty()) return note(name, "is an empty list");
    from_.erase(name);
  }
  // NumericDate: seconds since 1970, which may have a fraction (RFC 7519 §2).
  void time(Bytes name, std::optional<Timestamp>& to) {
    const Value* const claim = from_.find(name);
    if (claim == nullptr) return;
    const auto whole = claim->get_integer();
    const auto real = claim->get_real();
    if (!real || !std::isfinite(*real) || *real < 0 || *real > static_cast<double>(second_max)) {
      return note(name, "is no time in seconds since 1970");
    }
    to = whole ? Timestamp(std::chrono::seconds(*whole))
               : Timestamp(std::chrono::microseconds(static_cast<std::int64_t>(*real * 1e6)));
    from_.erase(name);
  }
  const std::string& mistake() const noexcept { return mistake_; }

 private:
  void note(Bytes name, Bytes words) {
    if (mistake_.empty()) mistake_ = fmt::format("{} {}", name, words);
  }
  Object& from_;
  std::string mistake_;
};

Verified<Claims> read_claims(Bytes json) {
  const container::ReadOptions options = {.bytes_max = token_bytes_max,
                                          .depth_max = token_depth_max};
  auto value = container::read_json<Value>(json, options);
  if (!value) return refuse(Reason::malformed_claims, shown(value.error().describe()));
  if (value->get_object() == nullptr) return refuse(Reason::malformed_claims);
  Claims claims;
  claims.others = std::move(value->as_object());
  ClaimReader reader(claims.others);
  reader.text("iss", claims.issuer);
  reader.text("sub", claims.subject);
  reader.text("jti", claims.id);
  reader.texts("aud", claims.audiences);
  reader.time("exp", claims.expires_at);
  reader.time("nbf", claims.not_before);
  reader.time("iat", claims.issued_at);
  if (!reader.mistake().empty()) return refuse(Reason::malformed_claims, reader.mistake());
  return claims;
}

Verified<void> check_parties(const Claims& claims, const TokenRules& rules) {
  if (rules.is_subject_required && claims.subject.empty()) {
    return refuse(Reason::missing_claim, "sub");
  }
  if (!rules.issuers.empty() && !is_one_of(claims.issuer, rules.issuers)) {
    return refuse(Reason::wrong_issuer, "iss is " + shown(claims.issuer));
  }
  if (claims.audiences.empty() && rules.audiences.empty()) return {};
  const bool is_for_us = std::ranges::any_of(claims.audiences, [&](const std::string& audience) {
    return is_one_of(audience, rules.audiences);
  });
  if (is_for_us) return {};
  return refuse(Reason::wrong_audience, claims.audiences.empty()
                                            ? "there is no aud"
                                            : "aud is " + shown(claims.audiences.front()));
}

std::string text_of(Timestamp time) {
  return std::string(
      TextForm<std::chrono::sys_seconds>::write(std::chrono::floor<std::chrono::seconds>(time)));
}

std::int64_t second_of(Timestamp time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

Verified<void> check_times(const Claims& claims, const TokenRules& rules, Timestamp now) {
  const auto microseconds = [](Duration duration) {
    return std::chrono::microseconds(duration.ns / 1000);
  };
  const auto leeway = microseconds(rules.leeway);
  if (!claims.expires_at && rules.is_expiry_required) return refuse(Reason::missing_claim, "exp");
  if (claims.expires_at && now >= *claims.expires_at + leeway) {
    return refuse(Reason::expired, "exp is " + text_of(*claims.expires_at));
  }
  if (claims.not_before && *claims.not_before > now + leeway) {
    return refuse(Reason::not_yet_valid, "nbf is " + text_of(*claims.not_before));
  }
  if (claims.issued_at && *claims.issued_at > now + leeway) {
    return refuse(Reason::issued_in_the_future, "iat is " + text_of(*claims.issued_at));
  }
  if (rules.age_max.ns == 0) return {};
  if (!claims.issued_at) return refuse(Reason::missing_claim, "iat");
  if (now <= *claims.issued_at + microseconds(rules.age_max) + leeway) return {};
  return refuse(Reason::too_old, "iat is " + text_of(*claims.issued_at));
}

Verified<Token> verify_jwt(Bytes text, std::span<const VerificationKey> keys,
                           const TokenRules& rules, Timestamp now) {
  auto content = verify_jws(text, keys);
  if (!content) return std::unexpected(std::move(content.error()));
  if (auto checked = check_type(content->header, rules); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  auto claims = read_claims(content->payload);
  if (!claims) return std::unexpected(std::move(claims.error()));
  if (auto checked = check_times(*claims, rules, now); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  if (auto checked = check_parties(*claims, rules); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return Token{std::move(content->header), *std::move(claims)};
}

Result<std::string> sign_jwt(const SigningKey& key, const Claims& claims, Bytes type) {
  Object payload;
  if (!claims.issuer.empty()) payload.set("iss", claims.issuer);
  if (!claims.subject.empty()) payload.set("sub", claims.subject);
  if (claims.audiences.size() == 1) payload.set("aud", claims.audiences.front());
  if (claims.audiences.size() > 1) {
    payload.set("aud", List(claims.audiences.begin(), claims.audiences.end()));
  }
  if (claims.expires_at) payload.set("exp", second_of(*claims.expires_at));
  if (claims.not_before) payload.set("nbf", second_of(*claims.not_before));
  if (claims.issued_at) payload.set("iat", second_of(*claims.issued_at));
  if (!claims.id.empty()) payload.set("jti", claims.id);
  for (const container::Member& member : claims.others) {
    // A claim that a user may set, such as in a profile, must not become the subject or the end.
    if (is_registered(member.name)) {
      return fail(
          Code::invalid_argument,
          fmt::format("claim '{}' is among the others: give it as the member of Claims that "
                      "stands for it",
                      member.name));
    }
    payload.set(member.name, member.value);
  }
  return sign_jws(key, container::to_json(Value(std::move(payload))), type);
}

}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
