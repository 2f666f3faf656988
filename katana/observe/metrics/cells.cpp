#include "katana/observe/metrics/cells.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "katana/base/system/check.hpp"

namespace katana::metrics::cells {
namespace {

constexpr std::size_t region_bytes = cells_max * sizeof(std::uint64_t);

// Returns zeros, without memory until they are used. Null: no address space.
std::uint64_t* reserve(std::size_t bytes) noexcept {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(memory);
}

struct Space {
  std::mutex mutex;                                      // guards everything below
  std::vector<std::uint64_t*> threads;                   // the cells of each living thread
  std::vector<std::uint64_t*> unused;                    // of ended threads, all zero again
  std::uint64_t* ended = nullptr;                        // the sums of ended threads
  std::vector<bool> holds_double;                        // by cell
  std::map<std::size_t, std::vector<std::size_t>> free;  // first cells of free ranges, by count
  std::size_t next = nobodys_cells;                      // first cell that was never taken
  std::size_t taken = 0;
};

// Never destroyed: a thread may end, and count, after the program's statics are destroyed.
Space& space() noexcept {
  static Space& only = *new Space;
  return only;
}

void add_value(Space& all, std::size_t cell, std::uint64_t bits) noexcept {
  std::uint64_t& value = all.ended[cell];
  if (all.holds_double[cell]) {
    value =
        std::bit_cast<std::uint64_t>(std::bit_cast<double>(value) + std::bit_cast<double>(bits));
  } else {
    value += bits;
  }
}

// Moves a thread's numbers to those of ended threads, and leaves zeros.
void fold(Space& all, std::uint64_t* cells) noexcept {
  for (std::size_t cell = nobodys_cells; cell < all.next; ++cell) {
    if (cells[cell] == 0) continue;
    add_value(all, cell, cells[cell]);
    cells[cell] = 0;
  }
}

constinit thread_local bool this_thread_has_left = false;

void leave() noexcept {
  this_thread_has_left = true;
  std::uint64_t* const mine = std::exchange(detail::cells_here, nullptr);
  if (mine == nullptr) return;
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  if (all.ended != nullptr) fold(all, mine);
  std::erase(all.threads, mine);
  all.unused.push_back(mine);  // has the capacity: see join()
}

// Its destructor runs when the thread ends.
struct Leaver {
  ~Leaver() { leave(); }
  bool armed = false;
};
thread_local Leaver leaver;

std::uint64_t* join(Space& all) noexcept {
  try {  // leave() must not fail, so its room is made here
    all.threads.reserve(all.threads.size() + 1);
    all.unused.reserve(all.unused.size() + all.threads.size() + 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  std::uint64_t* cells = nullptr;
  if (all.unused.empty()) {
    cells = reserve(region_bytes);
    if (cells == nullptr) return nullptr;
  } else {
    cells = all.unused.back();
    all.unused.pop_back();
  }
  all.threads.push_back(cells);
  leaver.armed = true;
  return cells;
}

// The first cell of the smallest free range that is large enough; the rest of it stays free. 0 when
// there is none.
std::size_t take_free(Space& all, std::size_t count) {
  const auto found = all.free.lower_bound(count);
  if (found == all.free.end()) return 0;
  const std::size_t first = found->second.back(), size = found->first;
  found->second.pop_back();
  if (found->second.empty()) all.free.erase(found);
  if (size > count) all.free[size - count].push_back(first + count);
  return first;
}

}  // namespace

Result<Range> take(std::size_t count, First first) {
  KATANA_REQUIRE(count >= 1);
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  if (all.ended == nullptr && (all.ended = reserve(region_bytes)) == nullptr) {
    return fail(Code::resource_exhausted, "cannot reserve address space for metric cells");
  }
  Range range{take_free(all, count), count};
  if (range.first == 0) {
    if (count > cells_max - all.next) {
      return fail(Code::resource_exhausted,
                  fmt::format("{} of {} cells of the process are taken, and {} are needed: use "
                              "fewer series, or histograms with fewer buckets",
                              all.taken, cells_max, count));
    }
    range.first = all.next;
    all.holds_double.resize(all.next + count);
    all.next += count;
  }
  all.holds_double[range.first] = first == First::holds_double;
  all.taken += count;
  return range;
}

void give(const Range& range) noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  for (std::size_t cell = range.first; cell < range.first + range.count; ++cell) {
    all.ended[cell] = 0;
    for (std::uint64_t* const thread : all.threads) {
      const std::atomic_ref theirs(thread[cell]);
      // Loads first: a page that the thread never used need not become memory.
      if (theirs.load(std::memory_order_relaxed) != 0) theirs.store(0, std::memory_order_relaxed);
    }
  }
  all.holds_double[range.first] = false;
  all.taken -= range.count;
  try {
    all.free[range.count].push_back(range.first);
  } catch (const std::bad_alloc&) {
    // The cells are not reused: a small loss in a process without memory.
  }
}

std::uint64_t* detail::reserve_here() noexcept {
  if (this_thread_has_left) return nullptr;
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  cells_here = join(all);
  return cells_here;
}

void detail::add_to_ended(std::size_t cell, std::uint64_t count) noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  if (cell >= nobodys_cells) all.ended[cell] += count;
}

void detail::add_to_ended(std::size_t cell, double amount) noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  if (cell >= nobodys_cells) add_value(all, cell, std::bit_cast<std::uint64_t>(amount));
}

Reading::Reading() noexcept : lock_(space().mutex) {}

std::uint64_t Reading::sum(const Range& range, std::size_t index) const noexcept {
  const Space& all = space();
  const std::size_t cell = range.first + index;
  if (cell < nobodys_cells) return 0;
  std::uint64_t total = all.ended[cell];
  for (std::uint64_t* const thread : all.threads) {
    total += std::atomic_ref(thread[cell]).load(std::memory_order_relaxed);
  }
  return total;
}

// One thread after another, because a thread's cells lie together.
std::uint64_t Reading::sum_of(const Range& range, std::size_t index,
                              std::size_t count) const noexcept {
  const Space& all = space();
  const std::size_t first = range.first + index;
  if (first < nobodys_cells) return 0;
  // Atomic loads are not made vectors. Four of them in a step take a third of the instructions.
  const auto add_up = [count](std::uint64_t* cell) {
    const auto at = [&](std::size_t place) {
      return std::atomic_ref(cell[place]).load(std::memory_order_relaxed);
    };
    std::uint64_t total = 0;
    std::size_t place = 0;
    for (; place + 4 <= count; place += 4) {
      total += at(place) + at(place + 1) + at(place + 2) + at(place + 3);
    }
    for (; place < count; ++place) total += at(place);
    return total;
  };
  std::uint64_t total = add_up(all.ended + first);
  for (std::uint64_t* const thread : all.threads) total += add_up(thread + first);
  return total;
}

void Reading::sums(const Range& range, std::size_t index,
                   std::span<std::uint64_t> sums) const noexcept {
  const Space& all = space();
  const std::size_t first = range.first + index;
  if (first < nobodys_cells) {
    std::ranges::fill(sums, 0);
    return;
  }
  std::copy_n(all.ended + first, sums.size(), sums.begin());
  for (std::uint64_t* const thread : all.threads) {
    for (std::size_t at = 0; at < sums.size(); ++at) {
      sums[at] += std::atomic_ref(thread[first + at]).load(std::memory_order_relaxed);
    }
  }
}

double Reading::sum_double(const Range& range) const noexcept {
  const Space& all = space();
  if (range.first < nobodys_cells) return 0;
  double total = std::bit_cast<double>(all.ended[range.first]);
  for (std::uint64_t* const thread : all.threads) {
    const std::uint64_t bits = std::atomic_ref(thread[range.first]).load(std::memory_order_relaxed);
    total += std::bit_cast<double>(bits);
  }
  return total;
}

std::size_t taken() noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  return all.taken;
}

std::size_t threads() noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  return all.threads.size();
}

}  // namespace katana::metrics::cells

// SPDX-License-Identifier: Apache-2.0
