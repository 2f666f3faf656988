// MemoryStoreOptions: how much a MemorySessionStore keeps (memory_store.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstddef>

namespace katana::sessions {

// How much is kept.
struct MemoryStoreOptions {
  std::size_t sessions_max = 100'000;  // of all, at a time
  // What they take, with what the tables take for each.
  std::size_t bytes_max = std::size_t{64} << 20;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
