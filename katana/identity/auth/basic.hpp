// basic: identifies the client by a user and a password in `Authorization: Basic` (RFC 7617), in
// UTF-8. Over TLS only: the password is on the wire with every request.
//
//   api.use(auth::basic({.realm = "shop", .verify = [&](std::string user, SecretText password) {
//     return users.verify(std::move(user), std::move(password));
//   }}));
//
// Owns       its options.
// Thread     the reactor's; one object serves all of them. A function that hashes passwords does it
//            on a pool of threads, because that takes tens of milliseconds on purpose.
// Allocates  for each request.
// Fails      401 for what is malformed, unknown or wrong; what `verify` fails with is answered as
//            problem() has it.
// Invariant  the password is overwritten when the last owner of it goes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/identity/auth/authenticator.hpp"

namespace katana::auth {

// What Basic asks for, and who judges it.
struct BasicOptions {
  std::string realm = {};  // required (RFC 7617 §2)
  // The principal; nothing: unknown user or wrong password, which should take the same time.
  std::function<Task<Result<std::optional<PrincipalFacts>>>(std::string user, SecretText password)>
      verify = {};
  // Told why a request was refused, for the log; on the thread of the request.
  std::function<void(Bytes reason)> on_refused = {};
};

Authentication basic(BasicOptions options);

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
