// Durability: the failures that an acknowledged write survives, for every backend.
//
// Thread     a value.
// Allocates  never.
#pragma once

#include <cstdint>

namespace katana::database {

enum class Durability : std::uint8_t {
  // A write survives the loss of power: the log is flushed before each commit is acknowledged.
  full,
  // A write survives only the end of the process. A loss of power or a failed flush may undo the
  // latest acknowledged commits. It never undoes a part of one, and the database stays consistent.
  // For data that can be made again.
  normal,
  // A write survives no failure: for data that ends with the process, as SQLite's ':memory:'.
  none,
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
