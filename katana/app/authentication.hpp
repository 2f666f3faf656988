// Authentication: how a program that an Application runs identifies clients, by `auth` in settings.
//
//   app.routes([](const registry::Services& services, Router& router) {
//     Group api = router.group("/api");
//     api.use(services.get<app::Authentication>().bearer());
//
// Owns       keys and revocations, which the middleware shares.
// Thread     any.
// Allocates  at the start, and when keys change.
// Fails      make() says which settings contradict one another. bearer() without settings is a
//            mistake of Router::build(), which names them.
// Invariant  it is in the registry of every Application.
#pragma once

#include <memory>

#include "katana/app/auth_settings.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/client/options.hpp"
#include "katana/identity/auth/bearer.hpp"
#include "katana/observe/log/log.hpp"

namespace katana::auth {
class RemoteKeys;
}

namespace katana::app {

class Authentication {
 public:
  // Keys of a file are read; those of a URL are not fetched yet.
  static Result<std::unique_ptr<Authentication>> make(const AuthSettings& settings,
                                                      const client::HttpClientOptions& client,
                                                      log::Logger logger);

  // For a program that only prints its documents: bearer() is no mistake without keys.
  void describe_only() noexcept { describes_ = true; }
  // To be given to use(); one for each group, or one for all.
  auth::Authentication bearer() const;
  // The revocations that bearer() compares tokens with.
  auth::Revocations& revocations() noexcept { return *revocations_; }

  // Whether keys come by URL: then load() fetches them, and health() is worth a check.
  bool is_remote() const noexcept { return remote_ != nullptr; }
  Task<Result<void>> load();
  Result<void> health() const;
  // Reads keys_file again. An error: the present keys stay.
  Result<void> reload();

 private:
  Authentication(BearerSettings settings, log::Logger logger);
  Result<void> make_keys(const client::HttpClientOptions& client);
  Result<auth::TokenKeys::Set> read_keys() const;

  bool describes_ = false;
  const BearerSettings settings_;
  const log::Logger logger_;
  std::shared_ptr<auth::TokenKeys> keys_;  // null: there are no settings
  std::shared_ptr<auth::RemoteKeys> remote_;
  const std::shared_ptr<auth::Revocations> revocations_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
