// MemoryStoreOptions: the limits of a MemorySessionStore (memory_store.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstddef>

namespace katana::sessions {

// Limits of the store.
struct MemoryStoreOptions {
  std::size_t sessions_max = 100'000;  // sessions at a time
  // Bytes of all sessions, with the share of the tables.
  std::size_t bytes_max = std::size_t{64} << 20;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
