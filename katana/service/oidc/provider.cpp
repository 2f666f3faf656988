#include "katana/service/oidc/provider.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/client/url.hpp"
#include "katana/container/json_read.hpp"
#include "katana/core/reactor.hpp"
#include "katana/service/auth/remote/safe_url.hpp"

namespace katana::oidc {
namespace {

constexpr Bytes metadata_path = "/.well-known/openid-configuration";

}  // namespace

Result<void> check_provider_url(Bytes name, Bytes url) {
  const auto parsed = client::parse_url(url);
  if (!parsed) return std::unexpected(parsed.error().within(std::string(name)));
  if (!auth::is_safe_url(url)) {
    return fail(
        Code::invalid_argument,
        fmt::format("{}: '{}' is not https, which only loopback may do without", name, url));
  }
  if (url.find('#') != Bytes::npos) {
    return fail(Code::invalid_argument, fmt::format("{}: '{}' has a fragment", name, url));
  }
  return {};
}

Result<ProviderMetadata> read_metadata(Bytes json, const std::string& issuer) {
  auto metadata = container::read_json<ProviderMetadata>(json);
  if (!metadata) return std::unexpected(metadata.error());
  if (metadata->issuer != issuer) {
    return fail(Code::unavailable, fmt::format("the provider calls itself '{}', and is known as "
                                               "'{}': set the issuer to what it says, if it is it",
                                               metadata->issuer, issuer));
  }
  const auto check = [&](Bytes name, const std::string& url) {
    return check_provider_url(name, url);
  };
  for (const auto& [name, url] :
       {std::pair{"authorization_endpoint", &metadata->authorization_endpoint},
        std::pair{"token_endpoint", &metadata->token_endpoint},
        std::pair{"jwks_uri", &metadata->jwks_uri}}) {
    if (const auto good = check(name, *url); !good) return std::unexpected(good.error());
  }
  if (metadata->end_session_endpoint) {
    const auto good = check("end_session_endpoint", *metadata->end_session_endpoint);
    if (!good) return std::unexpected(good.error());
  }
  return *std::move(metadata);
}

ProviderCache::ProviderCache(const OidcOptions& options, std::vector<jose::Algorithm> algorithms)
    : issuer_(options.issuer),
      algorithms_(std::move(algorithms)),
      max_age_(options.metadata_max_age),
      stale_max_(options.stale_max),
      timeout_(options.timeout) {}

Task<Result<std::shared_ptr<const Provider>>> ProviderCache::get(
    const client::HttpClient& http) const {
  const Instant now = core::Reactor::current()->now();
  {
    const std::lock_guard lock(mutex_);
    if (provider_ != nullptr && now - provider_->asked_at < max_age_) co_return provider_;
    const bool may_wait = provider_ != nullptr || failure_;
    if (may_wait && now < next_ask_) co_return remembered(now);
    next_ask_ = now + ask_again_after;
  }
  auto asked = co_await ask(http);
  const std::lock_guard lock(mutex_);
  if (asked) {
    provider_ = *std::move(asked);
    failure_.reset();
    co_return provider_;
  }
  failure_ = asked.error();
  co_return remembered(now);
}

// Under the lock, where the provider has not been asked just now, or has not answered.
Result<std::shared_ptr<const Provider>> ProviderCache::remembered(Instant now) const {
  if (provider_ != nullptr && (!failure_ || now - provider_->asked_at < stale_max_)) {
    return provider_;
  }
  return fail(Code::unavailable, failure_->describe());
}

Task<Result<std::shared_ptr<const Provider>>> ProviderCache::ask(
    const client::HttpClient& http) const {
  const bool has_slash = issuer_.ends_with('/');
  const std::string url =
      issuer_.substr(0, issuer_.size() - (has_slash ? 1 : 0)) + std::string(metadata_path);
  client::Request request(url);
  request.field("Accept", "application/json").redirects(0).timeout(timeout_);
  const auto response = co_await http.fetch(std::move(request));
  if (!response) co_return std::unexpected(response.error());
  if (response->status() != 200) {
    co_return fail(Code::unavailable,
                   fmt::format("GET {}: status {} instead of 200", url, response->status()));
  }
  auto metadata = read_metadata(response->content(), issuer_);
  if (!metadata) co_return std::unexpected(metadata.error().within("GET " + url));
  auto keys = keys_at(metadata->jwks_uri, http);
  if (!keys) co_return std::unexpected(keys.error().within("GET " + url));
  auto provider = std::make_shared<Provider>();
  provider->metadata = *std::move(metadata);
  provider->keys = *std::move(keys);
  provider->asked_at = core::Reactor::current()->now();
  co_return provider;
}

// Those that there are already, unless the provider has moved them.
Result<std::shared_ptr<auth::RemoteKeys>> ProviderCache::keys_at(
    const std::string& url, const client::HttpClient& http) const {
  {
    const std::lock_guard lock(mutex_);
    if (provider_ != nullptr && provider_->metadata.jwks_uri == url) return provider_->keys;
  }
  return auth::RemoteKeys::make(
      http, {.url = url, .algorithms = algorithms_, .kept_max = stale_max_, .timeout = timeout_});
}

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
