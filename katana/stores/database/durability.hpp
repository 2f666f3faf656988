// Durability: what an acknowledged write survives, for every backend.
//
// Thread     a value.
// Allocates  never.
#pragma once

#include <cstdint>

namespace katana::database {

enum class Durability : std::uint8_t {
  // The loss of power: the log is flushed before each commit is acknowledged.
  full,
  // The end of the process, and nothing else: a loss of power may undo the latest acknowledged
  // commits (never a part of one, and the database stays consistent). For data that can be made
  // again.
  normal,
  // Nothing: for data that ends with the process, as that of SQLite's ':memory:'.
  none,
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
