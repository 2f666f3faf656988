// Cells: 64-bit numbers that every thread adds to in memory of its own, and that are added up by
// whoever wants to know.
//
//   add      one thread, its own cell: a load, an addition, a store; no lock, no locked
//            instruction, no cache line that another thread writes
//   sum      what ended threads left behind, and every living thread's cell
//
// Owns       process-wide pages of 16,384 cells: one for each thread that adds to it, and one for
//            what ended threads left. A range belongs to its taker until give().
// Thread     any. sum() sees at least every addition that happened before it.
// Allocates  a page the first time that a thread adds to it. No memory: the addition goes to the
//            page of ended threads under a lock, and nothing is lost.
// Fails      take() is an Error when cells_max are taken.
// Invariant  a sum of additions never goes backwards: a thread's cells are moved to the page of
//            ended threads under the lock that sum() holds.
//
// The cells are process-wide, and not a registry's, because the address of a thread's own cell must
// be found in two instructions: only a thread_local array has that. See docs/decisions/0013.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "katana/base/result.hpp"

namespace katana::metrics::cells {

inline constexpr std::size_t page_cells = 16 * 1024;
inline constexpr std::size_t pages_max = 1024;
inline constexpr std::size_t cells_max = page_cells * pages_max;

// Consecutive cells of one page. The first cell of the first page belongs to nobody: what is added
// there is never seen, which is what a default-constructed instrument is for.
struct Range {
  std::uint32_t page = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  // How sum() reads the last cell: the others are counts. 1: it holds a double.
  std::uint32_t doubles = 0;
};

// `count` cells that are all zero, the last `doubles` (0 or 1) of them holding a double. REQUIRES
// 1 ≤ count ≤ page_cells.
Result<Range> take(std::size_t count, std::size_t doubles = 0);
// Sets them to zero for the next taker. REQUIRES that nobody adds to them any more.
void give(const Range& range) noexcept;

namespace detail {

inline constinit thread_local std::array<std::uint64_t*, pages_max> pages_here{};

// This thread's page, made if need be; null when there is no memory, or the thread is about to end.
[[gnu::cold, gnu::noinline]] std::uint64_t* make_page(std::uint32_t page) noexcept;
[[gnu::cold, gnu::noinline]] void add_to_ended(std::uint32_t page, std::uint32_t index,
                                               std::uint64_t count) noexcept;
[[gnu::cold, gnu::noinline]] void add_to_ended(std::uint32_t page, std::uint32_t index,
                                               double amount) noexcept;

// Not fetch_add: only the owner writes. relaxed: readers want this number and nothing that was
// written before it.
inline void add(std::uint64_t& cell, std::uint64_t count) noexcept {
  const std::atomic_ref<std::uint64_t> own(cell);
  own.store(own.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
}
inline void add(std::uint64_t& cell, double amount) noexcept {
  const std::atomic_ref<std::uint64_t> own(cell);
  const auto before = std::bit_cast<double>(own.load(std::memory_order_relaxed));
  own.store(std::bit_cast<std::uint64_t>(before + amount), std::memory_order_relaxed);
}

}  // namespace detail

// This thread's cells of a page, or null: then the caller adds with add_slowly().
inline std::uint64_t* here(std::uint32_t page) noexcept {
  std::uint64_t* const cells = detail::pages_here[page];
  if (cells != nullptr) [[likely]]
    return cells;
  return detail::make_page(page);
}

inline void add(const Range& range, std::uint64_t count) noexcept {
  if (std::uint64_t* const cells = here(range.page)) [[likely]] {
    detail::add(cells[range.first], count);
  } else {
    detail::add_to_ended(range.page, range.first, count);
  }
}

// Holds the lock under which cells are made, moved and added up: no thread that adds waits for it,
// but one that begins or ends does. Keep it for some hundred sums, not for thousands.
class Reading {
 public:
  Reading() noexcept;
  // Cell `index` of the range.
  std::uint64_t sum(const Range& range, std::size_t index = 0) const noexcept;
  double sum_double(const Range& range, std::size_t index) const noexcept;

 private:
  std::unique_lock<std::mutex> lock_;
};

// For tests and diagnostics.
std::size_t taken() noexcept;
std::size_t threads() noexcept;

}  // namespace katana::metrics::cells
