#include "katana/identity/oidc/provider.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/http/client/url.hpp"
#include "katana/identity/auth/remote/safe_url.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/stores/cache/cache.hpp"

namespace katana::oidc {
namespace {

using ProviderResult = Result<std::shared_ptr<const Provider>>;

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

class ProviderCache::State : public std::enable_shared_from_this<State> {
 public:
  State(const OidcOptions& options, std::vector<jose::Algorithm> algorithms,
        client::HttpClient http)
      : issuer_(options.issuer),
        algorithms_(std::move(algorithms)),
        max_age_(options.metadata_max_age),
        stale_max_(options.stale_max),
        timeout_(options.timeout),
        http_(std::move(http)),
        flights_(make_flights(options.timeout)) {}

  Task<ProviderResult> get();

 private:
  // Joins concurrent requests to the provider. The answer itself is kept in provider_.
  using Flights = cache::Cache<std::string, std::int64_t>;
  static Flights make_flights(Duration timeout);

  enum class Need : std::uint8_t { nothing, in_the_background, now };
  Need need(Instant now);
  ProviderResult known(Instant now) const;
  Task<Result<std::int64_t>> refresh();
  Task<ProviderResult> ask() const;
  Result<std::shared_ptr<auth::RemoteKeys>> keys_at(const std::string& url) const;
  // Asks the provider once for all concurrent callers.
  Task<Result<void>> fly();

  const std::string issuer_;
  const std::vector<jose::Algorithm> algorithms_;
  const Duration max_age_;
  const Duration stale_max_;
  const Duration timeout_;
  const client::HttpClient http_;
  const Flights flights_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Provider> provider_;
  Instant next_ask_;
  std::optional<Error> failure_;  // of the last request
};

ProviderCache::State::Flights ProviderCache::State::make_flights(Duration timeout) {
  cache::Options options;
  options.name = "oidc";
  options.bytes_max = std::size_t{64} << 10;
  options.entries_max = 16;
  options.ttl = milliseconds(1);
  options.ttl_jitter_percent = 0;
  // Covers the connection and the metadata.
  options.load_timeout = timeout * 2;
  options.shards = 1;
  auto made = Flights::make(options);
  KATANA_CHECK(made.has_value());
  return *std::move(made);
}

// A caller waits for new metadata if there is none, or it is older than twice its maximum age.
// After a failed request, usable metadata is renewed in the background.
ProviderCache::State::Need ProviderCache::State::need(Instant now) {
  const std::lock_guard lock(mutex_);
  const Duration age = provider_ != nullptr ? now - provider_->asked_at : stale_max_;
  if (provider_ != nullptr && age < max_age_) return Need::nothing;
  const bool has_asked = provider_ != nullptr || failure_;
  if (has_asked && now < next_ask_) return Need::nothing;
  const bool is_usable = provider_ != nullptr && age < stale_max_;
  if (!is_usable || (!failure_ && age >= max_age_ * 2)) return Need::now;
  next_ask_ = now + ask_again_after;
  return Need::in_the_background;
}

ProviderResult ProviderCache::State::known(Instant now) const {
  const std::lock_guard lock(mutex_);
  if (provider_ != nullptr && (!failure_ || now - provider_->asked_at < stale_max_)) {
    return provider_;
  }
  if (!failure_) return fail(Code::unavailable, "the provider has not answered yet");
  return fail(Code::unavailable, failure_->describe());
}

Task<ProviderResult> ProviderCache::State::get() {
  const Instant now = net::Reactor::current()->now();
  switch (need(now)) {
    case Need::nothing: break;
    case Need::in_the_background:
      // If the task does not begin, the next caller tries again. The known metadata is used.
      static_cast<void>(net::spawn(
          [](std::shared_ptr<State> self) -> Task<void> {
            (void)co_await self->fly();
          }(shared_from_this()),
          "ask the OpenID provider"));
      break;
    case Need::now: {
      const Result<void> asked = co_await fly();
      // known() has the error of the provider. `asked` has that of the caller, such as a timeout.
      const ProviderResult found = known(net::Reactor::current()->now());
      if (!found && !asked) co_return fail(Code::unavailable, asked.error().describe());
      co_return found;
    }
  }
  co_return known(now);
}

Task<Result<void>> ProviderCache::State::fly() {
  auto load = [self = shared_from_this()](std::string) { return self->refresh(); };
  std::string key = "provider";
  auto flight = flights_.get_or_load(std::move(key), load);
  const auto flown = co_await flight;
  if (!flown) co_return std::unexpected(flown.error());
  co_return {};
}

Task<Result<std::int64_t>> ProviderCache::State::refresh() {
  auto asked = co_await ask();
  const std::lock_guard lock(mutex_);
  next_ask_ = net::Reactor::current()->now() + ask_again_after;
  if (!asked) {
    failure_ = asked.error();
    co_return std::unexpected(asked.error());
  }
  provider_ = *std::move(asked);
  failure_.reset();
  co_return std::int64_t{1};
}

Task<ProviderResult> ProviderCache::State::ask() const {
  const bool has_slash = issuer_.ends_with('/');
  const std::string url =
      issuer_.substr(0, issuer_.size() - (has_slash ? 1 : 0)) + std::string(metadata_path);
  client::Request request(url);
  request.field("Accept", "application/json").redirects(0).timeout(timeout_);
  const auto response = co_await http_.fetch(std::move(request));
  if (!response) co_return std::unexpected(response.error());
  if (response->status() != 200) {
    co_return fail(Code::unavailable,
                   fmt::format("GET {}: status {} instead of 200", url, response->status()));
  }
  auto metadata = read_metadata(response->content(), issuer_);
  if (!metadata) co_return std::unexpected(metadata.error().within("GET " + url));
  auto keys = keys_at(metadata->jwks_uri);
  if (!keys) co_return std::unexpected(keys.error().within("GET " + url));
  auto provider = std::make_shared<Provider>();
  provider->metadata = *std::move(metadata);
  provider->keys = *std::move(keys);
  provider->asked_at = net::Reactor::current()->now();
  co_return provider;
}

// Returns the present keys, or new ones if the provider has moved them.
Result<std::shared_ptr<auth::RemoteKeys>> ProviderCache::State::keys_at(
    const std::string& url) const {
  {
    const std::lock_guard lock(mutex_);
    if (provider_ != nullptr && provider_->metadata.jwks_uri == url) return provider_->keys;
  }
  return auth::RemoteKeys::make(
      http_, {.url = url, .algorithms = algorithms_, .kept_max = stale_max_, .timeout = timeout_});
}

ProviderCache::ProviderCache(const OidcOptions& options, std::vector<jose::Algorithm> algorithms,
                             client::HttpClient http)
    : state_(std::make_shared<State>(options, std::move(algorithms), std::move(http))) {}

Task<ProviderResult> ProviderCache::get() const { return state_->get(); }

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
