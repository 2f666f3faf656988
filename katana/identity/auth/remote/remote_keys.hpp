// RemoteKeys: the keys of an issuer, from the URL where it publishes them (JWKS).
//
//   auto keys = auth::RemoteKeys::make(http, {.url = "https://id.example/jwks.json"});
//   api.use(auth::bearer({.keys = *keys, .rules = {…}}));
//
//   at first          fetched for the first request that needs them, which waits, or by load()
//   in between        fetched again when four fifths of `max-age` are over, within bounds
//   an unknown key    fetched once, for all requests together, at most every unknown_key_pause
//   while it answers  all who wait wait for its one end, on whichever reactor, and cost no time
//   the issuer fails  tried again after 1 s, 2 s, … 60 s; the last keys go on to serve until they
//                     are kept_max old; from then on requests get 503 until there are others
//
// Owns       what it fetches, and a share of the client.
// Thread     any. A fetch runs on the reactor of the request that began it.
// Allocates  to fetch.
// Fails      keys() is null, and health() says why.
// Invariant  one fetch at a time in the process. A set that is the same again leaves the generation
//            as it is, so that caches keep what they have. Redirects are not followed.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/identity/auth/token_keys.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/net/reactor/shared_wait.hpp"

namespace katana::auth {

// Where keys are, and how long they are good for.
struct RemoteKeysOptions {
  std::string url = {};  // https, or http to a loopback address
  // That keys may have; others are passed over.
  std::vector<jose::Algorithm> algorithms = jose::asymmetric_algorithms();
  // How long a set is fresh: what `max-age` says, within these bounds; without it the default.
  Duration fresh_min = seconds(60);
  Duration fresh_max = seconds(24 * 3600);
  Duration fresh_default = seconds(600);
  // How old a set may get while the issuer does not answer.
  Duration kept_max = seconds(24 * 3600);
  Duration unknown_key_pause = seconds(30);
  Duration timeout = seconds(5);
  // Told what went wrong with a fetch, and which keys were passed over, for the log; on the
  // reactor that fetched.
  std::function<void(Bytes words)> on_failure = {};
};

class RemoteKeys final : public TokenKeys, public std::enable_shared_from_this<RemoteKeys> {
 public:
  // An error: the options are wrong.
  static Result<std::shared_ptr<RemoteKeys>> make(client::HttpClient http,
                                                  RemoteKeysOptions options);

  // Fetches now, for programs that do not want to wait for the first request. The error says what
  // went wrong; it is tried again all the same. REQUIRES a reactor.
  Task<Result<void>> load();
  const std::string& url() const noexcept { return options_.url; }  // that it fetches
  // An error while no key may be used.
  Result<void> health() const;
  std::optional<Task<void>> refresh(Want want) override;

 private:
  struct Fetched {
    std::vector<jose::VerificationKey> keys;
    std::vector<std::string> passed_over;
    Duration fresh;
  };
  RemoteKeys(client::HttpClient http, RemoteKeysOptions options);

  // Each a coroutine that keeps this alive.
  static Task<void> keep_fresh(std::shared_ptr<RemoteKeys> self);
  static Task<void> fetch(std::shared_ptr<RemoteKeys> self);
  static Task<void> await_fetch(std::shared_ptr<net::SharedEvent> end);

  void watch();
  // True: this caller is the one that fetches.
  bool begin_fetch(Instant now);
  void end_fetch(Result<Fetched> fetched, Instant now);
  // The end of the fetch that runs; null: none does.
  std::shared_ptr<net::SharedEvent> fetch_end() const;
  // Those who wait for the fetch go on. Without the mutex.
  void let_on();
  Task<Result<Fetched>> request() const;
  // How long until something is due.
  Duration pause(Instant now);
  void tell(Bytes words) const;

  const client::HttpClient http_;
  const RemoteKeysOptions options_;
  mutable std::mutex state_mutex_;
  bool is_watched_ = false;
  std::shared_ptr<net::SharedEvent> fetch_end_;  // null: nothing is fetched
  bool has_keys_ = false;
  Instant attempted_at_ = {};
  Instant fetched_at_ = {};
  Instant due_at_ = {};
  Duration retry_ = {};
  std::string fingerprint_;  // of the set
  std::string failure_ = "they were not fetched yet";
};

namespace detail {

// For a value of Cache-Control; nothing: it has no max-age, or none that is a number.
std::optional<Duration> max_age_of(Bytes cache_control) noexcept;

}  // namespace detail
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
