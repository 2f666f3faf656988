// Settings `idempotency`: requests that may be sent twice; see identity/idempotency.
//
// Owns       values only.
// Thread     values.
// Allocates  as their options do.
// Fails      as Config does.
// Invariant  a change takes effect by a restart.
#pragma once

#include "katana/base/values/described.hpp"
#include "katana/identity/idempotency/memory_store.hpp"
#include "katana/identity/idempotency/options.hpp"

namespace katana {
namespace idempotency {

KATANA_DESCRIBE_ENUM(Scope, principal, everyone)

}  // namespace idempotency

namespace app {

// Where keys and stored replies are kept: in the process, in the database, or in Redis.
enum class KeyPlace : std::uint8_t { memory, database, redis };
KATANA_DESCRIBE_ENUM(KeyPlace, memory, database, redis)

// The section `idempotency` of the configuration; off by default.
struct IdempotencySettings : idempotency::Options {
  IdempotencySettings() { enabled = false; }
  KeyPlace store = KeyPlace::memory;
  // Limits of KeyPlace::memory; the other stores ignore them.
  idempotency::MemoryStoreOptions memory;
  bool make_table = true;
};

}  // namespace app
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
