// OpenIdProvider: people log in at a provider of identities (OpenID Connect Core 1.0, authorization
// code with PKCE, RFC 7636), and come back with who they are.
//
//   auto provider = auth::OpenIdProvider::make(
//       http, {.issuer = "https://id.example", .client_id = "shop", .client_secret = …,
//              .redirect_url = "https://shop.example/callback"});
//
//   GET /login      begun = co_await provider->begin("/orders");
//                   keep begun->pending in a session that is this browser's alone;
//                   Reply::redirect(begun->url)
//   GET /callback   login = co_await provider->finish(pending, callback);
//                   a new session for login->principal; Reply::redirect(login->return_to)
//
// Endpoints and keys come from the provider's configuration (OpenID Connect Discovery 1.0), whose
// issuer has to be the one asked for.
//
// Owns       what it fetched, and a share of the client.
// Thread     any; what it awaits runs on the caller's reactor. It outlives its tasks.
// Allocates  for each login.
// Fails      Code::unauthenticated: this login is not believed, or the person refused it;
//            Code::unavailable: the provider does not answer as it should.
// Invariant  a login is believed once its state is that of this browser, its code was redeemed with
//            the verifier that only this program has, and its ID token is signed by the provider,
//            for this client and with the nonce of this login.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/described.hpp"
#include "katana/base/instant.hpp"
#include "katana/base/result.hpp"
#include "katana/base/task.hpp"
#include "katana/base/timestamp.hpp"
#include "katana/client/http_client.hpp"
#include "katana/jose/jwt.hpp"
#include "katana/service/auth/principal.hpp"
#include "katana/service/auth/remote/remote_keys.hpp"

namespace katana::auth {

// Which provider, and what this program is to it.
struct OpenIdOptions {
  std::string issuer = {};     // https, without what follows it in the address of its configuration
  std::string client_id = {};  // of this program at the provider
  std::string client_secret = {};  // empty: a public client
  std::string redirect_url = {};   // of this program, as the provider knows it
  // What is asked for; "openid" is among them.
  std::vector<std::string> scopes = {"openid", "profile", "email"};
  // That keys of ID tokens may have.
  std::vector<jose::Algorithm> algorithms = jose::asymmetric_algorithms();
  std::string roles = "/roles";  // where they are among the claims, a JSON pointer
  Duration leeway = seconds(30);
  // Between begin() and finish().
  Duration login_time_max = seconds(600);
  // How long its configuration is kept.
  Duration fresh_for = seconds(24 * 3600);
  // For one answer of the provider.
  Duration timeout = seconds(10);
  // Told what went wrong with fetching keys, for the log.
  std::function<void(Bytes words)> on_failure = {};
};

// What has to be remembered of a login until the browser comes back, where nobody else can read or
// replace it: in its session.
struct PendingLogin {
  std::string state;      // that the browser brings back
  std::string nonce;      // that the ID token has
  std::string verifier;   // that the code is redeemed with
  std::string return_to;  // a path of the program
  Timestamp began_at;     // by the clock of the program
};
KATANA_DESCRIBE(PendingLogin, (state, secret), (nonce, secret), (verifier, secret), return_to,
                began_at)

// A login that has begun.
struct BegunLogin {
  std::string url;  // to send the browser to
  PendingLogin pending;
};

// What the browser brings back: the query of redirect_url.
struct OpenIdCallback {
  std::string code;   // to be redeemed
  std::string state;  // of the login
  std::string error;  // why there is no code: "access_denied"
  std::string iss;    // RFC 9207
};
KATANA_DESCRIBE(OpenIdCallback, (code, defaulted, secret), (state, defaulted, secret),
                (error, defaulted), (iss, defaulted))

// Somebody who has logged in.
struct OpenIdLogin {
  Principal principal;
  std::string return_to;
  std::string id_token;  // for logout_url()
};

class OpenIdProvider final {
 public:
  // An error: the options are wrong. Nothing is fetched yet.
  static Result<std::shared_ptr<OpenIdProvider>> make(client::HttpClient http,
                                                      OpenIdOptions options);

  // `return_to`: a path of this program, "/orders?open=1"; anything else is an error, because a
  // link could send people elsewhere.
  Task<Result<BegunLogin>> begin(std::string return_to);
  // Once for each pending login: forget it first.
  Task<Result<OpenIdLogin>> finish(PendingLogin pending, OpenIdCallback callback);
  // Where the provider ends its own session (RP-Initiated Logout 1.0); nothing: it has no such
  // place.
  Task<Result<std::optional<std::string>>> logout_url(std::string id_token, std::string return_url);

 private:
  // What the provider says of itself.
  struct Endpoints {
    std::string authorization;
    std::string token;
    std::string end_session;
    std::shared_ptr<RemoteKeys> keys;
    Instant fetched_at;
  };
  OpenIdProvider(client::HttpClient http, OpenIdOptions options);

  Task<Result<std::shared_ptr<const Endpoints>>> endpoints();
  Task<Result<std::shared_ptr<const Endpoints>>> discover();
  Task<Result<std::string>> redeem(std::shared_ptr<const Endpoints> at, std::string code,
                                   std::string verifier);
  Task<Result<Principal>> believe(std::shared_ptr<const Endpoints> at, std::string id_token,
                                  std::string nonce);

  const client::HttpClient http_;
  const OpenIdOptions options_;
  std::mutex mutex_;
  std::shared_ptr<const Endpoints> endpoints_;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
