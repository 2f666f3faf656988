// basic: identifies the client by a user and a password in `Authorization: Basic` (RFC 7617), in
// UTF-8. Use it only with TLS: every request sends the password.
//
//   api.use(auth::basic({.realm = "shop", .verify = [&](std::string user, SecretText password) {
//     return users.verify(std::move(user), std::move(password));
//   }}));
//
// Owns       its options.
// Thread     the reactor's; one object serves all of them. A function that hashes passwords uses a
//            pool of threads, because a hash takes tens of milliseconds on purpose.
// Allocates  for each request.
// Fails      401 for malformed, unknown or wrong credentials. An error of `verify` is answered as
//            problem() does.
// Invariant  the password is overwritten when its last owner is destroyed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/identity/auth/authenticator.hpp"

namespace katana::auth {

// Options of Basic: the realm, and the check of passwords.
struct BasicOptions {
  std::string realm = {};  // required (RFC 7617 §2)
  // Returns the principal; nothing: unknown user or wrong password. Both should take the same time.
  std::function<Task<Result<std::optional<PrincipalFacts>>>(std::string user, SecretText password)>
      verify = {};
  // Called with the reason of a refusal, for the log, on the thread of the request.
  std::function<void(Bytes reason)> on_refused = {};
};

Authentication basic(BasicOptions options);

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
