// Locks of an open file, and the shared memory of a write-ahead log's index, as SQLite asks for
// them (sqlite3_io_methods: xLock, xShmMap, xShmLock). Connections of one process alone use them.
//
// Owns       the memory.
// Borrows    the handles that hold a lock, as identities.
// Thread     one at a time: under the disk's mutex. The memory itself: any.
// Allocates  regions of the memory.
// Fails      a lock that another handle holds is refused.
// Invariant  one handle at most is reserved, pending or exclusive; exclusive means no other reader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace katana::testing::detail {

struct FileLocks {
  // `from`, `to`: SQLITE_LOCK_NONE to SQLITE_LOCK_EXCLUSIVE. Returns the level that was reached: a
  // writer that waits for readers stays at pending.
  int raise(const void* handle, int from, int to) noexcept;
  void lower(const void* handle, int from, int to) noexcept;
  bool is_reserved() const noexcept { return writer != nullptr; }

  std::size_t readers = 0;       // handles at shared or above
  const void* writer = nullptr;  // at reserved or above
  bool is_pending = false;       // no reader may come
};

struct SharedIndex {
  static constexpr std::size_t slots = 8;  // SQLITE_SHM_NLOCK

  // False: another handle holds one of the slots.
  bool lock(std::uint32_t& shared, std::uint32_t& exclusive, std::size_t first, std::size_t count,
            bool is_exclusive) noexcept;
  void unlock(std::uint32_t& shared, std::uint32_t& exclusive, std::size_t first,
              std::size_t count) noexcept;

  std::vector<std::unique_ptr<char[]>> regions;
  std::array<std::size_t, slots> readers{};
  std::uint32_t exclusive_slots = 0;  // by bit
};

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
