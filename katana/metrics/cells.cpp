#include "katana/metrics/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "katana/base/check.hpp"

namespace katana::metrics::cells {
namespace {

using Pages = std::array<std::uint64_t*, pages_max>;

// What ended threads left of one page, and which of its cells hold a double.
struct Ended {
  std::array<std::uint64_t, page_cells> values{};
  std::bitset<page_cells> is_double;
};

struct Space {
  std::mutex mutex;  // guards everything below, and the entries of every thread's pages_here
  std::vector<Pages*> threads;
  std::array<std::unique_ptr<Ended>, pages_max> ended;
  std::vector<std::uint64_t*> free_pages;                 // all zero
  std::map<std::size_t, std::vector<Range>> free_ranges;  // by their count
  std::size_t pages = 0;                                  // with a page of ended threads
  std::size_t next = 1;                                   // in the last page; 0 is scrap
  std::size_t taken = 0;
};

// Never destroyed: a thread may end, and count, after the statics of the program are gone.
Space& space() noexcept {
  static Space& only = *new Space;
  return only;
}

constinit thread_local bool this_thread_has_left = false;

void add_value(Ended& ended, std::size_t index, std::uint64_t bits) noexcept {
  std::uint64_t& value = ended.values[index];
  value =
      ended.is_double[index]
          ? std::bit_cast<std::uint64_t>(std::bit_cast<double>(value) + std::bit_cast<double>(bits))
          : value + bits;
}

// Moves a page's numbers to those of ended threads, and leaves it zero.
void fold(Ended& ended, std::uint64_t* page) noexcept {
  for (std::size_t index = 0; index < page_cells; ++index) {
    if (page[index] == 0) continue;
    add_value(ended, index, page[index]);
    page[index] = 0;
  }
}

void leave() noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  Pages& mine = detail::pages_here;
  this_thread_has_left = true;
  for (std::size_t page = 0; page < all.pages; ++page) {
    if (mine[page] == nullptr) continue;
    fold(*all.ended[page], mine[page]);
    all.free_pages.push_back(mine[page]);  // has capacity: reserved when the page was made
    mine[page] = nullptr;
  }
  std::erase(all.threads, &mine);
}

// Its destructor runs when the thread ends.
struct Leaver {
  ~Leaver() { leave(); }
  bool joined = false;
};
thread_local Leaver leaver;

// Zero, and aligned to a cache line, so that no other thread's memory shares one with it. calloc of
// so much is memory that costs nothing until it is touched.
std::uint64_t* new_page() noexcept {
  constexpr std::size_t line = 64, bytes = page_cells * sizeof(std::uint64_t);
  void* memory = std::calloc(1, bytes + line);
  if (memory == nullptr) return nullptr;
  std::size_t room = bytes + line;
  return static_cast<std::uint64_t*>(std::align(line, bytes, memory, room));  // never freed: reused
}

bool join(Space& all) noexcept {
  if (leaver.joined) return true;
  try {
    all.threads.push_back(&detail::pages_here);
  } catch (const std::bad_alloc&) {
    return false;
  }
  leaver.joined = true;
  return true;
}

std::uint64_t* take_page(Space& all) noexcept {
  if (!all.free_pages.empty()) {
    std::uint64_t* const page = all.free_pages.back();
    all.free_pages.pop_back();
    return page;
  }
  try {  // room for every page that will be given back, because leave() must not fail
    all.free_pages.reserve((all.threads.size() + 1) * all.pages);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return new_page();
}

Result<void> add_ended_page(Space& all) {
  if (all.pages == pages_max) {
    return fail(Code::resource_exhausted,
                fmt::format("all {} cells of the process are taken: use fewer series, or "
                            "histograms with fewer buckets",
                            cells_max));
  }
  all.ended[all.pages] = std::make_unique<Ended>();
  all.next = all.pages == 0 ? 1 : 0;
  ++all.pages;
  return {};
}

}  // namespace

Result<Range> take(std::size_t count, std::size_t doubles) {
  KATANA_REQUIRE(count >= 1 && count < page_cells && doubles <= 1);
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  Range range;
  if (auto found = all.free_ranges.find(count);
      found != all.free_ranges.end() && !found->second.empty()) {
    range = found->second.back();
    found->second.pop_back();
  } else {
    if (all.pages == 0 || page_cells - all.next < count) {
      if (auto added = add_ended_page(all); !added) return std::unexpected(added.error());
    }
    range.page = static_cast<std::uint32_t>(all.pages - 1);
    range.first = static_cast<std::uint32_t>(all.next);
    range.count = static_cast<std::uint32_t>(count);
    all.next += count;
  }
  range.doubles = static_cast<std::uint32_t>(doubles);
  if (doubles != 0) all.ended[range.page]->is_double.set(range.first + count - 1);
  all.taken += count;
  return range;
}

void give(const Range& range) noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  Ended& ended = *all.ended[range.page];
  for (std::size_t index = range.first; index < range.first + range.count; ++index) {
    ended.values[index] = 0;
    ended.is_double.reset(index);
    for (Pages* const thread : all.threads) {
      if (std::uint64_t* const page = (*thread)[range.page]) {
        std::atomic_ref(page[index]).store(0, std::memory_order_relaxed);
      }
    }
  }
  all.taken -= range.count;
  try {
    all.free_ranges[range.count].push_back(range);
  } catch (const std::bad_alloc&) {
    // The cells are not taken again: a small loss in a process that has no memory left.
  }
}

std::uint64_t* detail::make_page(std::uint32_t page) noexcept {
  if (this_thread_has_left) return nullptr;
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  // The first page may be asked for before anything was taken: by an instrument that counts nowhere.
  if (page >= all.pages || !join(all)) return nullptr;
  std::uint64_t* const cells = take_page(all);
  pages_here[page] = cells;
  return cells;
}

void detail::add_to_ended(std::uint32_t page, std::uint32_t index, std::uint64_t count) noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  if (page < all.pages) all.ended[page]->values[index] += count;
}

void detail::add_to_ended(std::uint32_t page, std::uint32_t index, double amount) noexcept {
  Space& all = space();
  const std::lock_guard lock(all.mutex);
  if (page < all.pages) add_value(*all.ended[page], index, std::bit_cast<std::uint64_t>(amount));
}

Reading::Reading() noexcept : lock_(space().mutex) {}

std::uint64_t Reading::sum(const Range& range, std::size_t index) const noexcept {
  const Space& all = space();
  const std::size_t at = range.first + index;
  std::uint64_t total = all.ended[range.page]->values[at];
  for (Pages* const thread : all.threads) {
    if (std::uint64_t* const page = (*thread)[range.page]) {
      total += std::atomic_ref(page[at]).load(std::memory_order_relaxed);
    }
  }
  return total;
}

double Reading::sum_double(const Range& range, std::size_t index) const noexcept {
  const Space& all = space();
  const std::size_t at = range.first + index;
  double total = std::bit_cast<double>(all.ended[range.page]->values[at]);
  for (Pages* const thread : all.threads) {
    if (std::uint64_t* const page = (*thread)[range.page]) {
      const std::uint64_t bits = std::atomic_ref(page[at]).load(std::memory_order_relaxed);
      total += std::bit_cast<double>(bits);
    }
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
