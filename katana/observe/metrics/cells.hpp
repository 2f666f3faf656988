// Cells: 64-bit numbers that every thread adds to in its own memory; readers add them up.
//
//   add      one thread, its own cell: a load, an addition, a store; no lock, no locked
//            instruction, no cache line that another thread writes
//   sum      the cells of ended threads, and every living thread's cell
//
// Owns       process-wide: address space for cells_max cells (32 MiB) of each thread that adds, and
//            of all ended threads together. Memory is used page by page. A range belongs to its
//            taker until give().
// Thread     any. sum() sees at least every addition that happened before it.
// Allocates  the address space at a thread's first addition. If there is none, the addition goes to
//            the cells of ended threads under a lock, and nothing is lost.
// Fails      take() is an Error when cells_max are taken.
// Invariant  a sum of additions never goes backwards: a thread's cells are moved to those of ended
//            threads under the lock that sum() holds.
//
// The cells belong to the process, not to a registry. The address of a thread's own cell must be
// found in two instructions: one thread_local base and an offset. See docs/decisions/0013.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "katana/base/system/result.hpp"

// ThreadSanitizer must see the accesses.
#if defined(__SANITIZE_THREAD__)
#define KATANA_ADD_IN_ONE_INSTRUCTION 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KATANA_ADD_IN_ONE_INSTRUCTION 0
#endif
#endif
#if !defined(KATANA_ADD_IN_ONE_INSTRUCTION)
#if defined(__x86_64__)
#define KATANA_ADD_IN_ONE_INSTRUCTION 1
#else
// 1: an addition is one instruction of x86-64. 0: an atomic load and store.
#define KATANA_ADD_IN_ONE_INSTRUCTION 0
#endif
#endif

namespace katana::metrics::cells {

// Limit of the process; a cell takes 8 bytes for each thread that adds.
inline constexpr std::size_t cells_max = 4 * 1024 * 1024;

// Consecutive cells. The first two of all have no owner: additions there are never seen.
// Default-constructed instruments use them.
struct Range {
  std::size_t first = 0;  // index of the first cell
  std::size_t count = 1;  // at least 1
};
// The place of a cell from the base of a thread's cells, in bytes. Handles keep it, because adding
// it needs no scaled index.
using Offset = std::size_t;
// Offset of the first cell.
inline constexpr Offset offset_of(const Range& range) noexcept {
  return range.first * sizeof(std::uint64_t);
}
inline constexpr std::size_t nobodys_cells = 2;  // cells of default-constructed instruments

// The content of the first cell of a range: a count, or the bits of a double.
enum class First : std::uint8_t { count, holds_double };
// Takes `count` cells that are all zero. REQUIRES count ≥ 1.
Result<Range> take(std::size_t count, First first = First::count);
// Sets the cells to zero for the next taker. REQUIRES that no thread adds to them any more.
void give(const Range& range) noexcept;

namespace detail {

inline constinit thread_local std::uint64_t* cells_here = nullptr;

// This thread's cells, reserved if necessary; null without address space, or when the thread is
// about to end.
[[gnu::cold, gnu::noinline]] std::uint64_t* reserve_here() noexcept;
[[gnu::cold, gnu::noinline]] void add_to_ended(std::size_t cell, std::uint64_t count) noexcept;
[[gnu::cold, gnu::noinline]] void add_to_ended(std::size_t cell, double amount) noexcept;

// Not fetch_add: only the owner writes. relaxed: readers need this number, and no earlier writes.
inline void add(std::uint64_t& cell, std::uint64_t count) noexcept {
#if KATANA_ADD_IN_ONE_INSTRUCTION
  // The same load, addition and store as below. For an atomic load and store the compiler makes
  // three instructions, which take a quarter longer. Every reader sees an aligned store of eight
  // bytes as a whole.
  asm("addq %1, %0" : "+m"(cell) : "re"(count) : "cc");
#else
  const std::atomic_ref<std::uint64_t> own(cell);
  own.store(own.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
#endif
}
inline void add(std::uint64_t& cell, double amount) noexcept {
  const std::atomic_ref<std::uint64_t> own(cell);
  const auto before = std::bit_cast<double>(own.load(std::memory_order_relaxed));
  own.store(std::bit_cast<std::uint64_t>(before + amount), std::memory_order_relaxed);
}

}  // namespace detail

// This thread's cells; null: the caller adds with add_to_ended().
inline std::uint64_t* here() noexcept {
  std::uint64_t* const cells = detail::cells_here;
  if (cells != nullptr) [[likely]] {
    return cells;
  }
  return detail::reserve_here();
}

// The cells of a range in `cells`.
inline std::uint64_t* at(std::uint64_t* cells, Offset offset) noexcept {
  return reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(cells) + offset);
}

// Adds to the calling thread's cell.
inline void add(Offset offset, std::uint64_t count) noexcept {
  if (std::uint64_t* const cells = here()) [[likely]] {
    detail::add(*at(cells, offset), count);
  } else {
    detail::add_to_ended(offset / sizeof(std::uint64_t), count);
  }
}
// Adds to the first cell of the range.
inline void add(const Range& range, std::uint64_t count) noexcept { add(offset_of(range), count); }

// Holds the lock under which cells are made, moved and added up. No adding thread waits for it, but
// a thread that begins or ends does. Keep it for some hundred sums, not for thousands.
class Reading {
 public:
  Reading() noexcept;
  // Cell `index` of the range.
  std::uint64_t sum(const Range& range, std::size_t index = 0) const noexcept;
  // The sum of `count` cells, from cell `index` on. REQUIRES that the range has them.
  std::uint64_t sum_of(const Range& range, std::size_t index, std::size_t count) const noexcept;
  // Sums as many cells as `sums` has places, from cell `index` on. REQUIRES that the range has
  // them.
  void sums(const Range& range, std::size_t index, std::span<std::uint64_t> sums) const noexcept;
  // The sum of the first cell, taken as First::holds_double.
  double sum_double(const Range& range) const noexcept;

 private:
  std::unique_lock<std::mutex> lock_;
};

// For tests and diagnostics.
std::size_t taken() noexcept;
std::size_t threads() noexcept;

}  // namespace katana::metrics::cells

// SPDX-License-Identifier: Apache-2.0
