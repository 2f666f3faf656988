// api_key: identifies the client by a key that the program issued: "shop_9f2c41d07ab3_6b1e…".
//
//   const auth::NewApiKey key = auth::make_api_key("shop");   // key.text is shown once
//   store(key.prefix, key.hash);                              // and never stored
//   api.use(auth::api_key({.find = [&](std::string prefix) { return keys.find(prefix); }}));
//
// The part in front of the last '_' finds the record. The secret behind it has 256 random bits.
// Unlike a password it cannot be guessed: one SHA-256 protects it at rest.
//
// Owns       its options.
// Thread     the reactor's; one object serves all of them.
// Allocates  for each request: `find` is called for each.
// Fails      401 for a key that is malformed, unknown, wrong or expired, without a difference. An
//            error of `find` is answered as problem() does.
// Invariant  an unknown key takes the same comparison as a known one.
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

// The stored record of a key.
struct ApiKeyRecord {
  std::string hash = {};  // from hash_api_key()
  std::string id = {};    // id of the Principal; empty: the prefix
  // The name of the Principal, for people.
  std::string name = {};
  // Roles of the Principal.
  std::vector<std::string> roles = {};
  // Scopes of the Principal.
  std::vector<std::string> scopes = {};
  // The key is refused at and after this time; nothing: never.
  std::optional<Timestamp> expires_at = {};
};

// A key that was just made.
struct NewApiKey {
  SecretText text;     // shown to its user once
  std::string prefix;  // key of the record: "shop_9f2c41d07ab3"
  // The hash to be stored: hash_api_key() of the text.
  std::string hash;
};
// Makes a new key. REQUIRES a name of 1 to 32 letters and digits.
NewApiKey make_api_key(Bytes name);
// The SHA-256 of the key's whole text, as 64 hexadecimal digits.
std::string hash_api_key(Bytes text);

// Options: the lookup of keys, and their place in a request.
struct ApiKeyOptions {
  // Returns the record of a prefix; nothing: there is none.
  std::function<Task<Result<std::optional<ApiKeyRecord>>>(std::string prefix)> find = {};
  std::string field = "X-API-Key";
  std::string issuer = "api_key";  // issuer of the Principal
  // Called with the reason of a refusal, for the log, on the thread of the request.
  std::function<void(Bytes reason)> on_refused = {};
};

Authentication api_key(ApiKeyOptions options);

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
