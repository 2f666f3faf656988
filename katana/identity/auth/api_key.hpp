// api_key: identifies the client by a key that the program gave out: "shop_9f2c41d07ab3_6b1e…".
//
//   const auth::NewApiKey key = auth::make_api_key("shop");   // key.text is shown once
//   store(key.prefix, key.hash);                              // and never stored
//   api.use(auth::api_key({.find = [&](std::string prefix) { return keys.find(prefix); }}));
//
// The part in front of the last '_' finds the record. The secret behind it has 256 random bits,
// so that one SHA-256 protects it at rest: there is nothing to guess, unlike with a password.
//
// Owns       its options.
// Thread     the reactor's; one object serves all of them.
// Allocates  for each request: `find` is called for each.
// Fails      401 for a key that is malformed, unknown, wrong or expired, without a difference;
//            what `find` fails with is answered as problem() has it.
// Invariant  a key that is unknown takes the same comparison as one that is known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/identity/auth/authenticator.hpp"

namespace katana::auth {

// What is stored of a key.
struct ApiKeyRecord {
  std::string hash = {};  // of hash_api_key()
  std::string id = {};    // of the Principal; empty: the prefix
  // Of the Principal, for people.
  std::string name = {};
  // For the Principal.
  std::vector<std::string> roles = {};
  // For the Principal.
  std::vector<std::string> scopes = {};
  // At and after it the key is refused; nothing: never.
  std::optional<Timestamp> expires_at = {};
};

// A key that was just made.
struct NewApiKey {
  SecretText text;     // for its user, once
  std::string prefix;  // by which it is found: "shop_9f2c41d07ab3"
  // To be stored: hash_api_key() of the text.
  std::string hash;
};
// REQUIRES a name of 1 to 32 letters and digits.
NewApiKey make_api_key(Bytes name);
// 64 hexadecimal digits of the SHA-256 of the key's whole text.
std::string hash_api_key(Bytes text);

// How keys are found, and where they stand in a request.
struct ApiKeyOptions {
  // The record of a prefix; nothing: there is none.
  std::function<Task<Result<std::optional<ApiKeyRecord>>>(std::string prefix)> find = {};
  std::string field = "X-API-Key";
  std::string issuer = "api_key";  // of the Principal
  // Told why a key was refused, for the log; on the thread of the request.
  std::function<void(Bytes reason)> on_refused = {};
};

Authentication api_key(ApiKeyOptions options);

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
