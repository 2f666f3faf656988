// Provider: the metadata of an OpenID provider (OpenID Connect Discovery 1.0 §3), and its keys.
//
//   Result<std::shared_ptr<const Provider>> provider = co_await cache.get();
//
// Owns       the metadata.
// Thread     ProviderCache: reactors; one lock, never held during a request to the provider. A
//            Provider does not change.
// Allocates  when the provider is asked.
// Fails      Code::unavailable (503) when the provider does not answer, or its answer is invalid.
//            An answer that is younger than stale_max is used instead. The Error names the URL and
//            the mistake.
// Invariant  the issuer is exactly the configured one, and plain HTTP is used only on loopback. At
//            most one request to the provider runs at a time, for all callers, and at most one in
//            ask_again_after. A caller that finds a known answer does not wait, even while the
//            provider fails or is asked again because the answer is old.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/identity/auth/remote/remote_keys.hpp"
#include "katana/identity/oidc/oidc_options.hpp"

namespace katana::oidc {

// The used members of the metadata; others are ignored.
struct ProviderMetadata {
  std::string issuer;                               // exactly as configured
  std::string authorization_endpoint;               // URL to which browsers are sent to log in
  std::string token_endpoint;                       // URL that redeems codes
  std::string jwks_uri;                             // URL of the keys
  std::optional<std::string> end_session_endpoint;  // URL that ends sessions
  // The client uses client_secret_basic, unless this list is present and lacks it.
  std::optional<std::vector<std::string>> token_endpoint_auth_methods_supported;
  // RFC 9207: each answer has `iss`.
  std::optional<bool> authorization_response_iss_parameter_supported;
};
// The names are those of the provider's document.
KATANA_DESCRIBE(ProviderMetadata, issuer, authorization_endpoint, token_endpoint, jwks_uri,
                end_session_endpoint, token_endpoint_auth_methods_supported,
                authorization_response_iss_parameter_supported)

struct Provider {
  ProviderMetadata metadata;               // from its discovery document
  std::shared_ptr<auth::RemoteKeys> keys;  // keys of jwks_uri, fetched at their first use
  Instant asked_at;                        // time of the request for the document
};

// Checks that a URL is https, or http on loopback, without a fragment. The Error names the mistake.
Result<void> check_provider_url(Bytes name, Bytes url);
Result<ProviderMetadata> read_metadata(Bytes json, const std::string& issuer);

// The known metadata of the provider, shared by all reactors.
class ProviderCache {
 public:
  static constexpr Duration ask_again_after = seconds(5);  // shortest time between two requests

  ProviderCache(const OidcOptions& options, std::vector<jose::Algorithm> algorithms,
                client::HttpClient http);

  // Returns the provider. REQUIRES a reactor.
  Task<Result<std::shared_ptr<const Provider>>> get() const;

 private:
  // Shared by the cache and the request to the provider, which may outlive the cache.
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
