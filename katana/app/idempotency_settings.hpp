// Settings `idempotency`: requests that may be sent twice; see identity/idempotency.
//
// Owns       values only.
// Thread     values.
// Allocates  as their options do.
// Fails      as Config does.
// Invariant  a change takes effect by a restart.
#pragma once

#include "katana/app/option_descriptions.hpp"
#include "katana/base/values/described.hpp"
#include "katana/identity/idempotency/memory_store.hpp"
#include "katana/identity/idempotency/options.hpp"

namespace katana {
namespace idempotency {

KATANA_DESCRIBE_ENUM(Scope, principal, everyone)
KATANA_DESCRIBE(MemoryStoreOptions,
                (keys_max, range(1, 100'000'000),
                 help("keys that are kept; more are refused with 503")),
                (bytes_max, byte_count, at_least(64 * 1024), help("memory of keys and replies")))

}  // namespace idempotency

namespace app {

enum class KeyPlace : std::uint8_t { memory, database, redis };
KATANA_DESCRIBE_ENUM(KeyPlace, memory, database, redis)

struct IdempotencySettings : idempotency::Options {
  IdempotencySettings() { enabled = false; }
  KeyPlace store = KeyPlace::memory;
  idempotency::MemoryStoreOptions memory;
  bool make_table = true;
};
KATANA_DESCRIBE(
    IdempotencySettings,
    (enabled, help("requests with an Idempotency-Key are carried out once, on routes behind the "
                   "program's Idempotency")),
    (store, help("memory: of this process; database: in its table katana_idempotency, for all "
                 "instances; redis: in the Redis of the settings redis, for all instances")),
    (required, help("400 for requests of those methods without a key")),
    (scope, help("whose keys are told apart: of each principal, which wants authentication; or "
                 "everyone's are the same")),
    (methods, length(1, 16), each(length(1, 32)),
     help("requests of other methods may have a key, which is not looked at")),
    (bare_keys, help("take keys that are not in quotes, too")),
    (kept, range(seconds(1), seconds(366 * 24 * 3600)), help("how long a reply is repeated")),
    (reply_bytes_max, byte_count, range(0, 1 << 26),
     help("content of a reply; larger ones are sent, and not kept")),
    (released_statuses, length(0, 64), each(range(200, 599)),
     help("replies of these statuses, and all of 5xx, are not kept: the request may be tried "
          "again")),
    (fields_left_out, length(0, 64), each(length(1, 100)),
     help("header fields of replies that are not kept")),
    (store_timeout, range(milliseconds(1), seconds(300)), help("of one call of the store")),
    (lease_max, range(seconds(1), seconds(24 * 3600)),
     help("how long a request whose route has no timeout keeps its key from others")),
    (runs_without_store,
     help("carry requests out while the store fails, perhaps twice; false: 503")),
    (repeated_field, length(0, 100), help("field of a repeated reply; empty: none")), memory,
    (make_table, help("database: make the table if it is not there")))

}  // namespace app
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
