// RemoteKeys: the keys of an issuer, from the URL where it publishes them (JWKS).
//
//   auto keys = auth::RemoteKeys::make(http, {.url = "https://id.example/jwks.json"});
//   api.use(auth::bearer({.keys = *keys, .rules = {…}}));
//
//   first use         fetched by load(), or for the first request that needs them, which waits
//   refresh           fetched again when four fifths of `max-age` are over, within bounds
//   unknown key       fetched once for all requests together, at most every unknown_key_pause
//   running fetch     requests of all reactors wait for its end, and use no CPU time
//   issuer fails      retried after 1 s, 2 s, … 60 s; the last keys stay in use until they are
//                     kept_max old; then requests get 503 until there are new keys
//
// Owns       the fetched keys, and a share of the client.
// Thread     any. A fetch runs on the reactor of the request that began it.
// Allocates  to fetch.
// Fails      keys() is null, and health() has the reason.
// Invariant  one fetch at a time in the process. An unchanged set does not change the generation:
//            caches then keep their entries. Redirects are not followed.
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

// The URL of the keys, and the times for which they are valid.
struct RemoteKeysOptions {
  std::string url = {};  // https, or http to a loopback address
  // The allowed algorithms of keys; other keys are skipped.
  std::vector<jose::Algorithm> algorithms = jose::asymmetric_algorithms();
  // A set is fresh for the time of `max-age`, within these bounds; without it for the default.
  Duration fresh_min = seconds(60);
  Duration fresh_max = seconds(24 * 3600);
  Duration fresh_default = seconds(600);
  // The largest age of a set while the issuer does not answer.
  Duration kept_max = seconds(24 * 3600);
  Duration unknown_key_pause = seconds(30);
  Duration timeout = seconds(5);
  // Called with errors of a fetch, and with skipped keys, for the log, on the reactor of the fetch.
  std::function<void(Bytes words)> on_failure = {};
};

class RemoteKeys final : public TokenKeys, public std::enable_shared_from_this<RemoteKeys> {
 public:
  // Returns an Error if an option is wrong.
  static Result<std::shared_ptr<RemoteKeys>> make(client::HttpClient http,
                                                  RemoteKeysOptions options);

  // Fetches now, before the first request. After an error it is retried all the same. REQUIRES a
  // reactor.
  Task<Result<void>> load();
  const std::string& url() const noexcept { return options_.url; }  // the fetched URL
  // Returns an Error while no key may be used.
  Result<void> health() const;
  std::optional<Task<void>> refresh(Want want) override;

 private:
  struct Fetched {
    std::vector<jose::VerificationKey> keys;
    std::vector<std::string> passed_over;
    Duration fresh;
  };
  RemoteKeys(client::HttpClient http, RemoteKeysOptions options);

  // These coroutines keep the object alive.
  static Task<void> keep_fresh(std::shared_ptr<RemoteKeys> self);
  static Task<void> fetch(std::shared_ptr<RemoteKeys> self);
  static Task<void> await_fetch(std::shared_ptr<net::SharedEvent> end);

  void watch();
  // True: this caller must fetch.
  bool begin_fetch(Instant now);
  void end_fetch(Result<Fetched> fetched, Instant now);
  // The event at the end of the running fetch; null: none runs.
  std::shared_ptr<net::SharedEvent> fetch_end() const;
  // Resumes the coroutines that wait for the fetch. Called without the mutex.
  void let_on();
  Task<Result<Fetched>> request() const;
  // The time until the next action is due.
  Duration pause(Instant now);
  void tell(Bytes words) const;

  const client::HttpClient http_;
  const RemoteKeysOptions options_;
  mutable std::mutex state_mutex_;
  bool is_watched_ = false;
  std::shared_ptr<net::SharedEvent> fetch_end_;  // null: no fetch runs
  bool has_keys_ = false;
  Instant attempted_at_ = {};
  Instant fetched_at_ = {};
  Instant due_at_ = {};
  Duration retry_ = {};
  std::string fingerprint_;  // fingerprint of the set
  std::string failure_ = "they were not fetched yet";
};

namespace detail {

// The max-age of a value of Cache-Control; nothing: it is absent, or no number.
std::optional<Duration> max_age_of(Bytes cache_control) noexcept;

}  // namespace detail
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
