#include "katana/identity/auth/bearer.hpp"

#include <algorithm>
#include <utility>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/identity/auth/per_thread.hpp"
#include "katana/identity/auth/token_cache.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::auth {
namespace {

using container::Kind;
using container::Value;

// Reads names from text with spaces between them, or from a list.
std::vector<std::string> names_at(const Value& claims, const std::string& pointer) {
  std::vector<std::string> names;
  const Value* const found = claims.at(pointer);
  if (found == nullptr) return names;
  if (const auto* const list = found->get_list()) {
    for (const Value& each : *list) {
      if (each.kind() == Kind::text) names.push_back(each.as_text());
    }
  } else if (found->kind() == Kind::text) {
    for (Bytes rest = found->as_text(); !rest.empty();) {
      const Bytes name = rest.substr(0, rest.find(' '));
      if (!name.empty()) names.emplace_back(name);
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
  }
  return names;
}

std::string text_at(const container::Object& claims, Bytes name) {
  const Value* const found = claims.find(name);
  return found != nullptr && found->kind() == Kind::text ? found->as_text() : std::string();
}

// RFC 6750 §2.1: b64token.
bool is_token_text(Bytes text) noexcept {
  while (text.ends_with('=')) text.remove_suffix(1);
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           Bytes("-._~+/").contains(c);
  });
}

std::chrono::microseconds microseconds_of(Duration duration) {
  return std::chrono::microseconds(duration.ns / 1000);
}

class Bearer final : public Authenticator, public std::enable_shared_from_this<Bearer> {
 public:
  explicit Bearer(BearerOptions options) : options_(std::move(options)) {
    options_.rules.is_subject_required = true;
  }

  Attempt attempt(const RequestView& request, session::Exchange&) const override {
    const auto field = only_field(request, "Authorization");
    if (!field) return Attempt::of(std::unexpected(invalid_request()));
    if (!*field) return Attempt::none();
    const auto token = credentials_of(**field, options_.scheme);
    if (!token) return Attempt::none();
    if (options_.requires_tls && !request.client().is_secure()) {
      return Attempt::of(std::unexpected(invalid_request(
          "Tokens are taken by https only. Replace this one, since others may have read it.")));
    }
    if (has_token_in(request.query())) return Attempt::of(std::unexpected(invalid_request()));
    return judge(*token);
  }

  std::string challenge() const override {
    // RFC 6750 §3: the scheme needs at least one parameter.
    const Bytes realm = options_.realm.empty() ? Bytes("restricted") : Bytes(options_.realm);
    return options_.scheme + " realm=" + quoted_parameter(realm);
  }
  SecurityScheme scheme() const override {
    std::string name = options_.scheme;
    std::ranges::transform(name, name.begin(), http::to_lower);
    const bool is_bearer = name == "bearer";  // only its tokens have a format in OpenAPI
    return {.name = name, .detail = name, .format = is_bearer ? "JWT" : ""};
  }
  std::string mistake() const override {
    if (options_.keys == nullptr) return "bearer() has no keys: give it TokenKeys";
    if (options_.scheme.empty() || !http::all_are(options_.scheme, http::token_character)) {
      return "bearer() has a scheme that is no token (RFC 9110 §11.1): \"Bearer\", \"Token\"";
    }
    return {};
  }

 private:
  // The cache of a reactor.
  struct Kept {
    explicit Kept(const BearerOptions& options)
        : cache(options.cached_tokens_max, options.cached_bytes_max) {}
    TokenCache cache;
    std::shared_ptr<const TokenKeys::Set> keys;
    std::uint64_t generation = UINT64_MAX;  // generation of `keys`
  };

  Kept& kept() const {
    Kept& kept = per_thread_.get([this] { return std::make_unique<Kept>(options_); });
    if (const std::uint64_t now = options_.keys->generation(); now != kept.generation) {
      kept.cache.clear();
      kept.keys = options_.keys->keys();
      kept.generation = now;
    }
    return kept;
  }

  Attempt judge(Bytes token) const {
    const Timestamp now = current_time();
    Kept& here = kept();
    if (TokenCache::Entry* const entry = here.cache.find(token)) {
      if (is_still_good(*entry, now)) return Attempt::of(entry->principal);
      here.cache.remove(token);  // verified again below, for the reason
    }
    if (!is_token_text(token)) return Attempt::of(refused({jose::Reason::malformed}));
    if (auto task = options_.keys->refresh(TokenKeys::Want::any)) {
      return Attempt::later(judge_later(shared_from_this(), std::string(token), *std::move(task)));
    }
    if (here.keys == nullptr) return Attempt::of(std::unexpected(unavailable()));
    auto verified = jose::verify_jwt(token, *here.keys, options_.rules, now);
    if (!verified && verified.error().reason == jose::Reason::unknown_key) {
      if (auto task = options_.keys->refresh(TokenKeys::Want::newer)) {
        return Attempt::later(
            judge_later(shared_from_this(), std::string(token), *std::move(task)));
      }
    }
    return Attempt::of(take(here, token, std::move(verified)));
  }

  // Verifies after a fetch of keys, even if it failed.
  static Task<Verdict> judge_later(std::shared_ptr<const Bearer> self, std::string token,
                                   Task<void> refresh) {
    co_await std::move(refresh);
    const Timestamp now = current_time();
    Kept& here = self->kept();
    if (here.keys == nullptr) co_return std::unexpected(self->unavailable());
    auto verified = jose::verify_jwt(token, *here.keys, self->options_.rules, now);
    co_return self->take(here, token, std::move(verified));
  }

  bool is_still_good(TokenCache::Entry& entry, Timestamp now) const {
    if (now < entry.from || now >= entry.until) return false;
    if (options_.revocations == nullptr) return true;
    const std::uint64_t revocations = options_.revocations->generation();
    if (revocations == entry.revocations) return true;
    entry.revocations = revocations;
    return !options_.revocations->covers(entry.principal.issuer(), entry.id, entry.principal.id(),
                                         entry.issued_at);
  }

  Verdict take(Kept& here, Bytes token, jose::Verified<jose::Token> verified) const {
    if (!verified) return refused(verified.error());
    jose::Claims& claims = verified->claims;
    const auto leeway = microseconds_of(options_.rules.leeway);
    std::uint64_t revocations = 0;
    const Timestamp issued_at = claims.issued_at.value_or(Timestamp());
    if (options_.revocations != nullptr) {
      revocations = options_.revocations->generation();
      if (options_.revocations->covers(claims.issuer, claims.id, claims.subject, issued_at)) {
        return refused({jose::Reason::revoked, jose::shown(claims.subject)});
      }
    }
    Timestamp until = claims.expires_at ? *claims.expires_at + leeway : Timestamp::max();
    if (options_.rules.age_max.ns != 0) {
      until = std::min(until, issued_at + microseconds_of(options_.rules.age_max) + leeway);
    }
    const Timestamp from = std::max(claims.not_before.value_or(Timestamp()), issued_at) - leeway;
    std::string id = claims.id;
    Principal principal = principal_of(std::move(claims), options_);
    if (options_.cached_tokens_max != 0) {
      here.cache.add(
          {std::string(token), principal, from, until, std::move(id), issued_at, revocations});
    }
    return principal;
  }

  std::unexpected<Reply> refused(const jose::Refusal& refusal) const {
    if (options_.on_refused) options_.on_refused(refusal);
    return std::unexpected(unauthenticated(with_error("invalid_token"), "The token is invalid."));
  }
  Reply invalid_request(
      Bytes why = "A request has its token once, in the field Authorization.") const {
    return problem(problem_types::malformed_credentials, why)
        .with("WWW-Authenticate", with_error("invalid_request"));
  }
  Reply unavailable() const {
    return problem(problem_types::unavailable, "Tokens cannot be verified at present.")
        .with("Retry-After", "5");
  }
  std::string with_error(Bytes error) const {
    std::string words = options_.realm.empty() ? options_.scheme + " " : challenge() + ", ";
    return words.append("error=").append(quoted_parameter(error));
  }

  static bool has_token_in(Bytes query) noexcept {
    while (!query.empty()) {
      const Bytes pair = query.substr(0, query.find('&'));
      if (pair.substr(0, pair.find('=')) == "access_token") return true;
      query.remove_prefix(std::min(query.size(), pair.size() + 1));
    }
    return false;
  }

  BearerOptions options_;
  mutable PerThread<Kept> per_thread_;
};

}  // namespace

Authentication bearer(BearerOptions options) {
  return Authentication(std::make_shared<const Bearer>(std::move(options)));
}

Principal principal_of(jose::Claims claims, const BearerOptions& options) {
  PrincipalFacts facts;
  facts.id = std::move(claims.subject);
  facts.issuer = std::move(claims.issuer);
  facts.name = text_at(claims.others, "name");
  if (facts.name.empty()) facts.name = text_at(claims.others, "preferred_username");
  facts.method = Method::token;
  facts.scheme = options.scheme;
  const Value others(std::move(claims.others));
  facts.roles = names_at(others, options.roles);
  facts.scopes = names_at(others, options.scopes);
  facts.authenticated_at = claims.issued_at;
  facts.expires_at = claims.expires_at;
  facts.claims = others.as_object();
  return Principal(std::move(facts));
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
