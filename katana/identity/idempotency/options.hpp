// Options and Statistics of Idempotency.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      Idempotency::make() names the wrong option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::idempotency {

// The scope in which a key is unique.
enum class Scope : std::uint8_t {
  principal,  // keys of each auth::Principal; a route without one in front fails in build()
  everyone,   // all clients share the keys; a personal reply is not repeated
};

// Options of one Idempotency, for all routes behind it.
struct Options {
  bool enabled = true;             // false: middleware() lets everything pass
  bool required = false;           // 400 for a request of `methods` without a key
  Scope scope = Scope::principal;  // principal: behind authentication
  // The methods with keys. The field is ignored for other methods.
  std::vector<std::string> methods = {"POST", "PATCH"};
  // Also accepts a key without quotes.
  bool bare_keys = true;
  // The time for which a reply is repeated; after that the key counts as new.
  Duration kept = seconds(24 * 3600);
  // The limit of a reply's body; a larger one is sent, and not kept.
  std::size_t reply_bytes_max = std::size_t{64} << 10;
  // Replies with these statuses, and with any 5xx, are not kept, because a retry may succeed later.
  // The key is free again.
  std::vector<unsigned> released_statuses = {401, 403, 408, 409, 425, 429};
  // Fields of a reply that are not kept.
  std::vector<std::string> fields_left_out = {"set-cookie"};
  // The timeout of one call of the store.
  Duration store_timeout = seconds(5);
  // The lease of a request if its handler has no timeout: after it the key is free again. The lease
  // of other requests is a little longer than their timeout.
  Duration lease_max = seconds(600);
  // The behaviour when the store fails. True: requests are carried out without it, perhaps twice.
  // False: 503.
  bool runs_without_store = false;
  // The field that marks repeated replies, with the value "true"; empty: none.
  std::string repeated_field = "Idempotent-Replayed";
};

// Counters since the Idempotency was made.
struct Statistics {
  std::uint64_t without_key = 0;     // requests of `methods` that ran without a key
  std::uint64_t missing = 0;         // 400: no key
  std::uint64_t malformed = 0;       // 400: malformed key
  std::uint64_t begun = 0;           // requests with a new key
  std::uint64_t repeated = 0;        // requests that got a kept reply
  std::uint64_t in_progress = 0;     // 409: another request with the key is running
  std::uint64_t mismatched = 0;      // 422: the key belongs to another request
  std::uint64_t kept = 0;            // kept replies
  std::uint64_t without_reply = 0;   // kept as done without a reply: streamed, or too large
  std::uint64_t released = 0;        // keys that are free again
  std::uint64_t lost = 0;            // claims with a lease that ended before the reply
  std::uint64_t store_failures = 0;  // calls that failed, or took longer than store_timeout
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
