#include "katana/testing/disk/disk_locks.hpp"

#include <sqlite3.h>

namespace katana::testing::detail {

int FileLocks::raise(const void* handle, int from, int to) noexcept {
  if (from >= to) return from;
  if (from == SQLITE_LOCK_NONE) {
    if (is_pending) return from;
    ++readers;
    from = SQLITE_LOCK_SHARED;
  }
  if (to == SQLITE_LOCK_SHARED) return from;
  if (writer != nullptr && writer != handle) return from;
  writer = handle;
  if (to == SQLITE_LOCK_RESERVED) return SQLITE_LOCK_RESERVED;
  is_pending = true;
  return readers == 1 ? SQLITE_LOCK_EXCLUSIVE : SQLITE_LOCK_PENDING;
}

void FileLocks::lower(const void* handle, int from, int to) noexcept {
  if (from > SQLITE_LOCK_SHARED && writer == handle) {
    writer = nullptr;
    is_pending = false;
  }
  if (to == SQLITE_LOCK_NONE && from != SQLITE_LOCK_NONE) --readers;
}

bool SharedIndex::lock(std::uint32_t& shared, std::uint32_t& exclusive, std::size_t first,
                       std::size_t count, bool is_exclusive) noexcept {
  const std::uint32_t mask = ((1U << count) - 1) << first;
  if ((exclusive_slots & mask & ~exclusive) != 0) return false;
  if (is_exclusive) {
    for (std::size_t slot = first; slot < first + count; ++slot) {
      const std::size_t own = (shared >> slot) & 1;
      if (readers[slot] > own) return false;
    }
    exclusive_slots |= mask;
    exclusive |= mask;
    return true;
  }
  for (std::size_t slot = first; slot < first + count; ++slot) {
    if (((shared >> slot) & 1) == 0) ++readers[slot];
  }
  shared |= mask;
  return true;
}

void SharedIndex::unlock(std::uint32_t& shared, std::uint32_t& exclusive, std::size_t first,
                         std::size_t count) noexcept {
  const std::uint32_t mask = ((1U << count) - 1) << first;
  for (std::size_t slot = first; slot < first + count; ++slot) {
    if (((shared >> slot) & 1) != 0) --readers[slot];
  }
  shared &= ~mask;
  exclusive_slots &= ~(exclusive & mask);
  exclusive &= ~mask;
}

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
