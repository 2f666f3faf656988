// Provider: what an OpenID provider says of itself (OpenID Connect Discovery 1.0 §3), and where its
// keys are.
//
//   Result<std::shared_ptr<const Provider>> provider = co_await cache.get();
//
// Owns       what was read.
// Thread     ProviderCache: reactors; one lock, never held while the provider is asked. A Provider
//            does not change.
// Allocates  when the provider is asked.
// Fails      Code::unavailable (503) when the provider does not answer, or says what is not to be
//            believed, and nothing is known that is younger than stale_max: the Error names the URL
//            and what is wrong.
// Invariant  the issuer is, to the byte, the one that was asked for, and no URL is plain HTTP but
//            on loopback. The provider is asked once at a time, for all callers that wait, and at
//            most once in ask_again_after. A request that finds a known answer waits for
//            nothing, even while the provider fails or is asked again because its answer is old.
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

// What is used of it; members of other names are passed over.
struct ProviderMetadata {
  std::string issuer;                               // to the byte
  std::string authorization_endpoint;               // where browsers are sent to log in
  std::string token_endpoint;                       // where codes are redeemed
  std::string jwks_uri;                             // where keys are
  std::optional<std::string> end_session_endpoint;  // where sessions end; none: not there
  // client_secret_basic unless it is left out of a list.
  std::optional<std::vector<std::string>> token_endpoint_auth_methods_supported;
  // RFC 9207: each answer has `iss`.
  std::optional<bool> authorization_response_iss_parameter_supported;
};
// As the provider writes it.
KATANA_DESCRIBE(ProviderMetadata, issuer, authorization_endpoint, token_endpoint, jwks_uri,
                end_session_endpoint, token_endpoint_auth_methods_supported,
                authorization_response_iss_parameter_supported)

struct Provider {
  ProviderMetadata metadata;               // of its discovery document
  std::shared_ptr<auth::RemoteKeys> keys;  // of jwks_uri, fetched when they are first needed
  Instant asked_at;                        // when the document was asked for: it is renewed by age
};

// https, or http on loopback, without a fragment. The Error says what else it is.
Result<void> check_provider_url(Bytes name, Bytes url);
Result<ProviderMetadata> read_metadata(Bytes json, const std::string& issuer);

// What is known of the provider of some options, shared by all reactors.
class ProviderCache {
 public:
  static constexpr Duration ask_again_after = seconds(5);  // at the earliest

  ProviderCache(const OidcOptions& options, std::vector<jose::Algorithm> algorithms,
                client::HttpClient http);

  // REQUIRES a reactor.
  Task<Result<std::shared_ptr<const Provider>>> get() const;

 private:
  // Shared by the cache and what asks the provider, which may outlive it.
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
