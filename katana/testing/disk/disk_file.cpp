#include "katana/testing/disk/disk_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "katana/testing/disk/disk_locks.hpp"

namespace katana::testing::detail {
namespace {

// Versions of a page or a size that are kept; a crash leaves one of these.
constexpr std::size_t versions_max = 16;

std::size_t pages_of(std::uint64_t bytes) noexcept {
  return static_cast<std::size_t>((bytes + disk_page_bytes - 1) / disk_page_bytes);
}

// The oldest goes, and never the latest.
template <class T>
void add_version(std::vector<T>& to, T version) {
  if (to.size() == versions_max) to.erase(to.begin());
  to.push_back(std::move(version));
}

}  // namespace

DiskFile::DiskFile() : locks(std::make_unique<FileLocks>()) {}
DiskFile::~DiskFile() = default;

const DiskFile::Page& DiskFile::bytes_of(const PagePointer& page) noexcept {
  static constexpr Page zeros{};
  return page ? *page : zeros;
}

DiskFile::PagePointer DiskFile::durable(std::size_t index) const noexcept {
  return index < durable_pages_.size() ? durable_pages_[index] : nullptr;
}

std::size_t DiskFile::read(char* to, std::size_t bytes, std::uint64_t at) const noexcept {
  const std::size_t there =
      at >= size_ ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size_ - at));
  for (std::size_t done = 0; done < there;) {
    const std::uint64_t from = at + done;
    const std::size_t offset = static_cast<std::size_t>(from % disk_page_bytes);
    const std::size_t count = std::min(there - done, disk_page_bytes - offset);
    const Page& page = bytes_of(pages_[static_cast<std::size_t>(from / disk_page_bytes)]);
    std::memcpy(to + done, page.data() + offset, count);
    done += count;
  }
  std::memset(to + there, 0, bytes - there);
  return there;
}

void DiskFile::put(std::size_t index, PagePointer page, std::uint64_t number) {
  pages_[index] = page;
  add_version(versions_[index], Version{number, std::move(page)});
}

void DiskFile::set_size(std::uint64_t size, std::uint64_t number) {
  if (size == size_) return;
  size_ = size;
  add_version(sizes_, Size{number, size});
}

void DiskFile::write(std::string_view data, std::uint64_t at, std::uint64_t number) {
  if (at + data.size() > size_) {
    pages_.resize(std::max(pages_.size(), pages_of(at + data.size())));
    set_size(at + data.size(), number);
  }
  for (std::size_t done = 0; done < data.size();) {
    const std::uint64_t to = at + done;
    const auto index = static_cast<std::size_t>(to / disk_page_bytes);
    const auto offset = static_cast<std::size_t>(to % disk_page_bytes);
    const std::size_t count = std::min(data.size() - done, disk_page_bytes - offset);
    auto page = std::make_shared<Page>(bytes_of(pages_[index]));
    std::memcpy(page->data() + offset, data.data() + done, count);
    put(index, std::move(page), number);
    done += count;
  }
}

void DiskFile::truncate(std::uint64_t size, std::uint64_t number) {
  if (size < size_) {
    const std::size_t kept = pages_of(size);
    for (std::size_t index = kept; index < pages_.size(); ++index) put(index, nullptr, number);
    if (const auto offset = static_cast<std::size_t>(size % disk_page_bytes); offset != 0) {
      auto page = std::make_shared<Page>(bytes_of(pages_[kept - 1]));
      std::memset(page->data() + offset, 0, disk_page_bytes - offset);
      put(kept - 1, std::move(page), number);
    }
  }
  pages_.resize(pages_of(size));
  set_size(size, number);
}

void DiskFile::sync() {
  durable_pages_.resize(pages_.size());
  for (const auto& [index, versions] : versions_) {
    if (index < pages_.size()) durable_pages_[index] = pages_[index];
  }
  durable_size_ = size_;
  versions_.clear();
  sizes_.clear();
}

void DiskFile::fail_sync(Random& random, bool stay_cached) {
  durable_pages_.resize(std::max(durable_pages_.size(), pages_.size()));
  for (const auto& [index, versions] : versions_) {
    if (index >= pages_.size()) continue;
    if (random.chance(512)) {
      durable_pages_[index] = pages_[index];
    } else if (!stay_cached) {
      pages_[index] = durable_pages_[index];
    }
  }
  versions_.clear();
}

void DiskFile::overwrite(char byte, std::uint64_t at) {
  const auto index = static_cast<std::size_t>(at / disk_page_bytes);
  for (auto* const pages : {&pages_, &durable_pages_}) {
    if (index >= pages->size()) continue;
    auto page = std::make_shared<Page>(bytes_of((*pages)[index]));
    (*page)[static_cast<std::size_t>(at % disk_page_bytes)] = byte;
    (*pages)[index] = std::move(page);
  }
}

DiskFile::PagePointer DiskFile::page_after_crash(std::size_t index,
                                                 const std::vector<Version>& versions,
                                                 Random& random, const CrashPlan& plan,
                                                 CrashTally& tally) const {
  const PagePointer before = durable(index);
  // The version of a sector: 0 is the durable one.
  const auto draw = [&] { return static_cast<std::size_t>(random.below(versions.size() + 1)); };
  std::size_t whole = 0;
  std::size_t torn_with = SIZE_MAX;
  switch (plan.kind) {
    case CrashKind::all_lost: break;
    case CrashKind::all_kept: whole = versions.size(); break;
    case CrashKind::by_page: whole = draw(); break;
    case CrashKind::by_sector: break;
    case CrashKind::in_order:
      while (whole < versions.size() && versions[whole].number <= plan.moment) ++whole;
      if (whole < versions.size() && versions[whole].number == plan.moment + 1)
        torn_with = whole + 1;
      break;
  }
  const auto version = [&](std::size_t number) -> const PagePointer& {
    return number == 0 ? before : versions[number - 1].page;
  };
  Page page = bytes_of(version(whole));
  bool is_torn = false, is_rotten = false;
  std::size_t first = SIZE_MAX;
  for (std::size_t at = 0; at < page.size(); at += plan.sector_bytes) {
    std::size_t chosen = whole;
    if (plan.kind == CrashKind::by_sector) chosen = draw();
    if (torn_with != SIZE_MAX && random.chance(512)) chosen = torn_with;
    if (first == SIZE_MAX) first = chosen;
    is_torn = is_torn || chosen != first;
    std::memcpy(page.data() + at, bytes_of(version(chosen)).data() + at, plan.sector_bytes);
    if (plan.rot_per_1024 == 0 || !random.chance(plan.rot_per_1024)) continue;
    const Page& latest = bytes_of(versions.back().page);
    const Page& durable_bytes = bytes_of(before);
    for (std::size_t byte = at; byte < at + plan.sector_bytes; ++byte) {
      const bool is_written = latest[byte] != durable_bytes[byte];
      if (plan.only_written_bytes && !is_written) continue;
      page[byte] = static_cast<char>(random.next() & 0xff);
      is_rotten = true;
    }
  }
  if (is_torn) {
    ++tally.pages_torn;
  } else {
    ++(first == versions.size() ? tally.pages_kept : tally.pages_lost);
  }
  if (is_rotten) ++tally.pages_rotten;
  return std::make_shared<const Page>(page);
}

std::uint64_t DiskFile::size_after_crash(Random& random, const CrashPlan& plan,
                                         CrashTally& tally) const {
  std::size_t kept = 0;  // sizes that are behind: 0 is the durable one
  switch (plan.kind) {
    case CrashKind::all_lost: break;
    case CrashKind::all_kept: kept = sizes_.size(); break;
    case CrashKind::in_order:
      while (kept < sizes_.size() && sizes_[kept].number <= plan.moment) ++kept;
      break;
    case CrashKind::by_page:
    case CrashKind::by_sector:
      // A size that is lost hides the pages behind it: mostly it is there.
      kept = random.chance(768) ? sizes_.size()
                                : static_cast<std::size_t>(random.below(sizes_.size() + 1));
      break;
  }
  if (kept != sizes_.size()) ++tally.sizes_lost;
  return kept == 0 ? durable_size_ : sizes_[kept - 1].bytes;
}

std::shared_ptr<DiskFile> DiskFile::after_crash(Random& random, const CrashPlan& plan,
                                                CrashTally& tally) const {
  auto left = std::make_shared<DiskFile>();
  left->size_ = size_after_crash(random, plan, tally);
  left->pages_ = durable_pages_;
  left->pages_.resize(pages_of(left->size_));
  for (const auto& [index, versions] : versions_) {
    auto page = page_after_crash(index, versions, random, plan, tally);
    if (index < left->pages_.size()) left->pages_[index] = std::move(page);
  }
  // Bytes behind the end of a file are 0 when it grows again.
  if (const auto offset = static_cast<std::size_t>(left->size_ % disk_page_bytes); offset != 0) {
    auto page = std::make_shared<Page>(bytes_of(left->pages_.back()));
    std::memset(page->data() + offset, 0, disk_page_bytes - offset);
    left->pages_.back() = std::move(page);
  }
  left->durable_pages_ = left->pages_;
  left->durable_size_ = left->size_;
  return left;
}

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
