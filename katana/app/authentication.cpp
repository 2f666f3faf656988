#include "katana/app/authentication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "katana/identity/auth/remote/remote_keys.hpp"
#include "katana/observe/log/rate_limit.hpp"

namespace katana::app {
namespace {

class Unconfigured final : public auth::Authenticator {
 public:
  explicit Unconfigured(bool serves) noexcept : serves_(serves) {}

  auth::Attempt attempt(const RequestView&, session::Exchange&) const override {
    return auth::Attempt::none();
  }
  std::string challenge() const override { return {}; }
  // The scheme of bearer tokens: the description does not depend on the settings.
  SecurityScheme scheme() const override {
    return {.name = "bearer", .detail = "bearer", .format = "JWT"};
  }
  std::string mistake() const override {
    if (!serves_) return {};
    return "routes are behind bearer tokens, and there are no keys to verify them: set auth.bearer "
           "with an issuer, and jwks_url or keys_file";
  }

 private:
  const bool serves_;
};

bool is_secret(jose::Algorithm algorithm) noexcept {
  return family_of(algorithm) == jose::Family::hmac;
}

}  // namespace

Authentication::Authentication(BearerSettings settings, log::Logger logger)
    : settings_(std::move(settings)),
      logger_(std::move(logger)),
      revocations_(std::make_shared<auth::Revocations>(settings_.revocations_max)) {}

Result<std::unique_ptr<Authentication>> Authentication::make(
    const AuthSettings& settings, const client::HttpClientOptions& client, log::Logger logger) {
  std::unique_ptr<Authentication> made(new Authentication(settings.bearer, std::move(logger)));
  if (auto keys = made->make_keys(client); !keys) {
    return std::unexpected(keys.error().within("auth.bearer"));
  }
  return made;
}

Result<void> Authentication::make_keys(const client::HttpClientOptions& client) {
  if (!settings_.given()) return {};
  if (!settings_.jwks_url.empty() && !settings_.keys_file.empty()) {
    return fail(Code::invalid_argument, "jwks_url and keys_file are both given: leave one out");
  }
  if (settings_.issuer.empty()) {
    return fail(Code::invalid_argument,
                "there are keys and no issuer: set issuer to the `iss` of its tokens");
  }
  if (!settings_.keys_file.empty()) {
    auto keys = read_keys();
    if (!keys) return std::unexpected(std::move(keys.error()));
    keys_ = std::make_shared<auth::TokenKeys>(*std::move(keys));
    return {};
  }
  if (std::ranges::any_of(settings_.algorithms, is_secret)) {
    return fail(Code::invalid_argument,
                "algorithms has one with a secret, which is never published at jwks_url: leave it "
                "out, or give the secret in keys_file");
  }
  auto http = client::HttpClient::make(client);
  if (!http) return std::unexpected(http.error().within("client"));
  auto remote = auth::RemoteKeys::make(
      *std::move(http),
      {.url = settings_.jwks_url,
       .algorithms = settings_.algorithms,
       .fresh_max = settings_.keys_fresh_max,
       .kept_max = settings_.keys_kept_max,
       .timeout = settings_.keys_timeout,
       .on_failure = [logger = logger_](Bytes words) { logger.warn("{}", words); }});
  if (!remote) return std::unexpected(std::move(remote.error()));
  remote_ = *std::move(remote);
  keys_ = remote_;
  return {};
}

Result<auth::TokenKeys::Set> Authentication::read_keys() const {
  std::ifstream file(settings_.keys_file, std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    return fail(Code::not_found, fmt::format("keys_file '{}' cannot be read", settings_.keys_file));
  }
  auto set = jose::read_jwk_set(json, settings_.algorithms);
  if (!set) {
    return std::unexpected(set.error().within(fmt::format("keys_file '{}'", settings_.keys_file)));
  }
  for (const std::string& each : set->passed_over) {
    logger_.warn("keys_file '{}': {}", settings_.keys_file, each);
  }
  return std::move(set->keys);
}

auth::Authentication Authentication::bearer() const {
  if (keys_ == nullptr) {
    return auth::Authentication(std::make_shared<const Unconfigured>(!describes_));
  }
  auth::BearerOptions options;
  options.keys = keys_;
  options.rules = {.issuers = {settings_.issuer},
                   .audiences = settings_.audiences,
                   .types = settings_.types,
                   .leeway = settings_.leeway,
                   .age_max = settings_.age_max};
  options.revocations = revocations_;
  options.realm = settings_.realm;
  options.requires_tls = settings_.requires_tls;
  options.roles = settings_.roles;
  options.scopes = settings_.scopes;
  options.cached_tokens_max = settings_.cached_tokens_max;
  options.cached_bytes_max = settings_.cached_bytes_max;
  // Clients that send tokens must not fill the log with them.
  options.on_refused = [logger = logger_, limit = std::make_shared<log::RateLimit>(
                                              20, seconds(10))](const jose::Refusal& refusal) {
    logger.info(*limit, "refused: {}", refusal.describe());
  };
  return auth::bearer(std::move(options));
}

Task<Result<void>> Authentication::load() {
  if (remote_ == nullptr) co_return Result<void>();
  auto task = remote_->load();
  co_return co_await std::move(task);
}

Result<void> Authentication::health() const {
  if (remote_ == nullptr) return {};
  return remote_->health();
}

Result<void> Authentication::reload() {
  if (settings_.keys_file.empty()) return {};
  auto keys = read_keys();
  if (!keys) return std::unexpected(std::move(keys.error()));
  keys_->replace(*std::move(keys));
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
