// Options and Statistics of Idempotency.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      Idempotency::make() names the option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::idempotency {

// Whose keys are told apart.
enum class Scope : std::uint8_t {
  principal,  // of each auth::Principal; a route without one in front is an error of build()
  everyone,   // a key means the same for all clients; a reply that is personal is not repeated
};

// Of one Idempotency, and all routes behind it.
struct Options {
  bool enabled = true;             // false: middleware() lets everything pass
  bool required = false;           // 400 for a request of `methods` without a key
  Scope scope = Scope::principal;  // principal: behind authentication
  // Of other methods the field is not looked at.
  std::vector<std::string> methods = {"POST", "PATCH"};
  // A key that is no string in quotes is taken as well.
  bool bare_keys = true;
  // How long a reply is repeated; then the key is a new one.
  Duration kept = seconds(24 * 3600);
  // For a reply's content; a larger one is sent, and not kept.
  std::size_t reply_bytes_max = std::size_t{64} << 10;
  // Replies of these, and all of 5xx, are not kept: the same request may go better later. The key
  // is free again.
  std::vector<unsigned> released_statuses = {401, 403, 408, 409, 425, 429};
  // Of fields of a reply, which are not kept.
  std::vector<std::string> fields_left_out = {"set-cookie"};
  // For one call of the store.
  Duration store_timeout = seconds(5);
  // What a request whose handler has no timeout may take before its key is free again. Of others
  // it is their timeout, and a little more.
  Duration lease_max = seconds(600);
  // When the store fails: true: requests are carried out without it, and may be so twice. False:
  // 503.
  bool runs_without_store = false;
  // A field that repeated replies have, with the value "true"; empty: none.
  std::string repeated_field = "Idempotent-Replayed";
};

// Since it was made.
struct Statistics {
  std::uint64_t without_key = 0;    // of `methods`, and carried out
  std::uint64_t missing = 0;        // 400
  std::uint64_t malformed = 0;      // 400
  std::uint64_t begun = 0;          // with a new key
  std::uint64_t repeated = 0;       // answered with a reply that was kept
  std::uint64_t in_progress = 0;    // 409: another one with the key is carried out
  std::uint64_t mismatched = 0;     // 422: the key is another request's
  std::uint64_t kept = 0;           // replies
  std::uint64_t without_reply = 0;  // kept as done, without a reply, which is streamed or too large
  std::uint64_t released = 0;       // keys that are free again
  std::uint64_t lost = 0;           // claims that were over before their reply
  std::uint64_t store_failures = 0;  // calls that failed, or took longer than store_timeout
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
