#include "katana/service/auth/remote/openid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "katana/base/base64.hpp"
#include "katana/base/secrets.hpp"
#include "katana/container/json_read.hpp"
#include "katana/core/reactor.hpp"
#include "katana/jose/hash.hpp"
#include "katana/service/auth/bearer.hpp"
#include "katana/service/auth/remote/safe_url.hpp"

namespace katana::auth {

// OpenID Connect Discovery 1.0 §3; what else there is is passed over.
struct OpenIdConfiguration {
  std::string issuer;
  std::string authorization_endpoint;
  std::string token_endpoint;
  std::string jwks_uri;
  std::string end_session_endpoint;
};
KATANA_DESCRIBE(OpenIdConfiguration, (issuer, required), (authorization_endpoint, required),
                (token_endpoint, required), (jwks_uri, required), (end_session_endpoint, defaulted))

// OpenID Connect Core 1.0 §3.1.3.3.
struct OpenIdTokens {
  std::string id_token;
};
KATANA_DESCRIBE(OpenIdTokens, (id_token, required, secret))

namespace {

constexpr std::size_t answer_bytes_max = 256 * 1024;

std::unexpected<Error> disbelieved(std::string words) {
  return fail(Code::unauthenticated, "the login is not believed: " + std::move(words));
}

// application/x-www-form-urlencoded, which is more than URLs ask for, and right in both.
std::string encoded(Bytes text) {
  constexpr Bytes digits = "0123456789ABCDEF";
  std::string made;
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || Bytes("-._~").contains(c);
    if (is_plain) {
      made.push_back(c);
    } else {
      made.push_back('%');
      made.push_back(digits[octet >> 4]);
      made.push_back(digits[octet & 15]);
    }
  }
  return made;
}

void add_pair(std::string& to, Bytes name, Bytes value) {
  if (!to.empty() && !to.ends_with('?') && !to.ends_with('&')) to.push_back('&');
  to.append(name).append("=").append(encoded(value));
}

// What a query is added to.
std::string with_query(std::string url) {
  url.push_back(url.contains('?') ? '&' : '?');
  return url;
}

// A path of this host: "//other.example" and "/\other.example" are hosts to browsers.
bool is_own_path(Bytes path) noexcept {
  return path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/\\") &&
         std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~'; });
}

std::string random_text() { return encode_base64url(random_octets(32)); }

template <class T>
Result<T> read_answer(const Result<client::Response>& answer, Bytes what) {
  if (!answer) return std::unexpected(answer.error());
  if (answer->status() != 200) {
    return fail(Code::unavailable, fmt::format("{} answered {}", what, answer->status()));
  }
  auto read = container::read_json<T>(answer->content(), {.bytes_max = answer_bytes_max});
  if (read) return read;
  return fail(Code::unavailable, fmt::format("{}: {}", what, read.error().describe()));
}

}  // namespace

OpenIdProvider::OpenIdProvider(client::HttpClient http, OpenIdOptions options)
    : http_(std::move(http)), options_(std::move(options)) {}

Result<std::shared_ptr<OpenIdProvider>> OpenIdProvider::make(client::HttpClient http,
                                                             OpenIdOptions options) {
  for (const std::string* const url : {&options.issuer, &options.redirect_url}) {
    if (is_safe_url(*url)) continue;
    return fail(Code::invalid_argument,
                fmt::format("OpenID provider '{}': '{}' is neither https nor a loopback address",
                            options.issuer, *url));
  }
  const bool asks_openid = std::ranges::find(options.scopes, "openid") != options.scopes.end();
  if (options.client_id.empty() || !asks_openid) {
    return fail(Code::invalid_argument,
                fmt::format("OpenID provider '{}': client_id is empty, or scopes have no 'openid'",
                            options.issuer));
  }
  return std::shared_ptr<OpenIdProvider>(new OpenIdProvider(std::move(http), std::move(options)));
}

// ---- what the provider says of itself ----

Task<Result<std::shared_ptr<const OpenIdProvider::Endpoints>>> OpenIdProvider::endpoints() {
  std::shared_ptr<const Endpoints> known;
  {
    const std::lock_guard lock(mutex_);
    known = endpoints_;
  }
  const Instant now = core::Reactor::current()->now();
  if (known != nullptr && now < known->fetched_at + options_.fresh_for) co_return known;
  auto found = co_await discover();
  // An old configuration is better than none: keys have an age of their own.
  if (!found && known != nullptr) co_return known;
  if (found) {
    const std::lock_guard lock(mutex_);
    endpoints_ = *found;
  }
  co_return found;
}

Task<Result<std::shared_ptr<const OpenIdProvider::Endpoints>>> OpenIdProvider::discover() {
  std::string url = options_.issuer;
  while (url.ends_with('/')) url.pop_back();
  url += "/.well-known/openid-configuration";
  client::Request request(url);
  request.timeout(options_.timeout).redirects(0);
  const auto answer = co_await http_.fetch(std::move(request));
  auto read = read_answer<OpenIdConfiguration>(answer, url);
  if (!read) co_return std::unexpected(read.error());
  if (read->issuer != options_.issuer) {
    co_return fail(Code::unavailable,
                   fmt::format("{} is of another issuer: {}", url, jose::shown(read->issuer)));
  }
  for (const std::string* const each :
       {&read->authorization_endpoint, &read->token_endpoint, &read->jwks_uri}) {
    if (is_safe_url(*each)) continue;
    co_return fail(Code::unavailable, fmt::format("{} names an address that is not https: {}", url,
                                                  jose::shown(*each)));
  }
  auto keys = RemoteKeys::make(http_, {.url = read->jwks_uri,
                                       .algorithms = options_.algorithms,
                                       .timeout = options_.timeout,
                                       .on_failure = options_.on_failure});
  if (!keys) co_return std::unexpected(keys.error());
  Endpoints made{std::move(read->authorization_endpoint), std::move(read->token_endpoint),
                 std::move(read->end_session_endpoint), *std::move(keys),
                 core::Reactor::current()->now()};
  if (!made.end_session.empty() && !is_safe_url(made.end_session)) made.end_session.clear();
  {
    // The same address goes on with the keys that are there.
    const std::lock_guard lock(mutex_);
    if (endpoints_ != nullptr && endpoints_->keys->url() == made.keys->url()) {
      made.keys = endpoints_->keys;
    }
  }
  co_return std::make_shared<const Endpoints>(std::move(made));
}

// ---- a login ----

Task<Result<BegunLogin>> OpenIdProvider::begin(std::string return_to) {
  if (!is_own_path(return_to)) {
    co_return fail(Code::invalid_argument,
                   fmt::format("a login cannot return to {}: give a path of this program",
                               jose::shown(return_to)));
  }
  auto at = co_await endpoints();
  if (!at) co_return std::unexpected(at.error());
  PendingLogin pending{random_text(), random_text(), random_text(), std::move(return_to),
                       current_time()};
  std::string scopes;
  for (const std::string& each : options_.scopes) {
    if (!scopes.empty()) scopes += ' ';
    scopes += each;
  }
  std::string url = with_query((*at)->authorization);
  add_pair(url, "response_type", "code");
  add_pair(url, "client_id", options_.client_id);
  add_pair(url, "redirect_uri", options_.redirect_url);
  add_pair(url, "scope", scopes);
  add_pair(url, "state", pending.state);
  add_pair(url, "nonce", pending.nonce);
  add_pair(url, "code_challenge", encode_base64url(jose::sha256(pending.verifier)));
  add_pair(url, "code_challenge_method", "S256");
  co_return BegunLogin{std::move(url), std::move(pending)};
}

Task<Result<OpenIdLogin>> OpenIdProvider::finish(PendingLogin pending, OpenIdCallback callback) {
  if (pending.state.empty() || !equal_in_constant_time(pending.state, callback.state)) {
    co_return disbelieved("its state is not that of this browser");
  }
  const auto age = current_time() - pending.began_at;
  if (age.count() < 0 || age > std::chrono::microseconds(options_.login_time_max.ns / 1000)) {
    co_return disbelieved("it began too long ago");
  }
  // Another provider's answer, brought here (RFC 9207 §2.4).
  if (!callback.iss.empty() && callback.iss != options_.issuer) {
    co_return disbelieved("it is of another issuer: " + jose::shown(callback.iss));
  }
  if (!callback.error.empty()) {
    co_return fail(Code::unauthenticated,
                   "the provider refused the login: " + jose::shown(callback.error));
  }
  if (callback.code.empty()) co_return disbelieved("it has no code");
  auto at = co_await endpoints();
  if (!at) co_return std::unexpected(at.error());
  auto id_token = co_await redeem(*at, std::move(callback.code), std::move(pending.verifier));
  if (!id_token) co_return std::unexpected(id_token.error());
  auto who = co_await believe(*at, *id_token, std::move(pending.nonce));
  if (!who) co_return std::unexpected(who.error());
  co_return OpenIdLogin{*std::move(who), std::move(pending.return_to), *std::move(id_token)};
}

Task<Result<std::string>> OpenIdProvider::redeem(std::shared_ptr<const Endpoints> at,
                                                 std::string code, std::string verifier) {
  std::string form;
  add_pair(form, "grant_type", "authorization_code");
  add_pair(form, "code", code);
  add_pair(form, "redirect_uri", options_.redirect_url);
  add_pair(form, "code_verifier", verifier);
  client::Request request("POST", at->token);
  request.timeout(options_.timeout).redirects(0);
  if (options_.client_secret.empty()) {
    add_pair(form, "client_id", options_.client_id);
  } else {  // RFC 6749 §2.3.1
    const std::string user = encoded(options_.client_id) + ":" + encoded(options_.client_secret);
    request.field("Authorization", "Basic " + encode_base64(user));
  }
  request.content(std::move(form), "application/x-www-form-urlencoded");
  const auto answer = co_await http_.fetch(std::move(request));
  if (answer && (answer->status() == 400 || answer->status() == 401)) {
    co_return disbelieved("the provider does not take its code");
  }
  auto read = read_answer<OpenIdTokens>(answer, at->token);
  if (!read) co_return std::unexpected(read.error());
  co_return std::move(read->id_token);
}

// OpenID Connect Core 1.0 §3.1.3.7.
Task<Result<Principal>> OpenIdProvider::believe(std::shared_ptr<const Endpoints> at,
                                                std::string id_token, std::string nonce) {
  const jose::TokenRules rules = {.issuers = {options_.issuer},
                                  .audiences = {options_.client_id},
                                  .types = {"JWT"},
                                  .leeway = options_.leeway};
  if (auto task = at->keys->refresh(TokenKeys::Want::any)) co_await *std::move(task);
  auto keys = at->keys->keys();
  if (keys == nullptr) co_return std::unexpected(at->keys->health().error());
  auto token = jose::verify_jwt(id_token, *keys, rules, current_time());
  if (!token && token.error().reason == jose::Reason::unknown_key) {
    if (auto task = at->keys->refresh(TokenKeys::Want::newer)) {
      co_await *std::move(task);
      keys = at->keys->keys();
      if (keys == nullptr) co_return std::unexpected(at->keys->health().error());
      token = jose::verify_jwt(id_token, *keys, rules, current_time());
    }
  }
  if (!token) co_return disbelieved(token.error().describe());
  const auto claim = [&](Bytes name) {
    const container::Value* const found = token->claims.others.find(name);
    const bool is_text = found != nullptr && found->kind() == container::Kind::text;
    return is_text ? std::optional(found->as_text()) : std::nullopt;
  };
  const auto given = claim("nonce");
  if (!given || !equal_in_constant_time(*given, nonce)) {
    co_return disbelieved("its ID token is of another login");
  }
  const auto party = claim("azp");
  if (party ? *party != options_.client_id : token->claims.audiences.size() > 1) {
    co_return disbelieved("its ID token was made for another client");
  }
  BearerOptions where;
  where.roles = options_.roles;
  PrincipalFacts facts = principal_of(std::move(token->claims), where).facts();
  facts.method = Method::session;
  co_return Principal(std::move(facts));
}

Task<Result<std::optional<std::string>>> OpenIdProvider::logout_url(std::string id_token,
                                                                    std::string return_url) {
  auto at = co_await endpoints();
  if (!at) co_return std::unexpected(at.error());
  if ((*at)->end_session.empty()) co_return std::nullopt;
  std::string url = with_query((*at)->end_session);
  add_pair(url, "id_token_hint", id_token);
  add_pair(url, "client_id", options_.client_id);
  if (!return_url.empty()) add_pair(url, "post_logout_redirect_uri", return_url);
  co_return std::optional(std::move(url));
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
