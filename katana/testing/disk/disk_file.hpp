// DiskFile: one file of a simulated disk, as programs read it, and as a crash may leave it.
//
// A page that was written and not synced has several versions: the durable one, and one for each
// write. The file's size has them, too. A crash leaves one version of each sector.
//
//   write ──▶ cached + a version ──sync──▶ durable      sync fails: versions are gone
//                        └──crash──▶ any version, sector by sector
//
// Owns       pages; copies of a file share them.
// Thread     one at a time.
// Allocates  a page for each page written.
// Fails      never.
// Invariant  what a successful sync() made durable is in every file that after_crash() returns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "katana/base/values/random.hpp"

namespace katana::testing::detail {

struct FileLocks;
struct SharedIndex;

constexpr std::size_t disk_page_bytes = 4096;

// How a crash chooses among the versions. The seed draws one for each crash.
enum class CrashKind : std::uint8_t {
  all_lost,   // nothing that was not synced
  all_kept,   // everything, as after the end of the process alone
  in_order,   // what was written before some moment; the last page is torn
  by_page,    // any version of each page: in any order
  by_sector,  // any version of each sector: torn
};

// The effect of a crash on pages that were not synced.
struct CrashTally {
  std::uint64_t pages_kept = 0, pages_lost = 0, pages_torn = 0, pages_rotten = 0;
  std::uint64_t sizes_lost = 0;  // files whose latest size was not kept
};

struct CrashPlan {
  CrashKind kind = CrashKind::all_lost;
  std::uint64_t moment = 0;  // of in_order: writes up to this number are kept
  std::size_t sector_bytes = 512;
  bool only_written_bytes = true;  // rot spares bytes that no write changed
  std::uint32_t rot_per_1024 = 0;  // chance of a sector that was not synced
};

class DiskFile {
 public:
  DiskFile();
  ~DiskFile();
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  std::uint64_t size() const noexcept { return size_; }
  // Copies bytes from `at`; returns how many there are. The rest of `to` becomes 0.
  std::size_t read(char* to, std::size_t bytes, std::uint64_t at) const noexcept;
  // `number`: of the write, in the order of the disk's writes.
  void write(std::string_view data, std::uint64_t at, std::uint64_t number);
  void truncate(std::uint64_t size, std::uint64_t number);
  // Makes everything durable.
  void sync();
  // A sync that failed: some pages got to the disk, and no later sync writes the others. Programs
  // read the lost pages as before if `stay_cached`, or their durable version.
  void fail_sync(Random& random, bool stay_cached);
  // Changes a byte in the cache and on the disk. REQUIRES at < size().
  void overwrite(char byte, std::uint64_t at);

  // The file after a crash.
  std::shared_ptr<DiskFile> after_crash(Random& random, const CrashPlan& plan,
                                        CrashTally& tally) const;

  std::unique_ptr<FileLocks> locks;         // of open files of this file
  std::weak_ptr<SharedIndex> shared_index;  // the memory of a write-ahead log's index

 private:
  using Page = std::array<char, disk_page_bytes>;
  using PagePointer = std::shared_ptr<const Page>;  // null: zeros
  struct Version {
    std::uint64_t number;
    PagePointer page;
  };
  struct Size {
    std::uint64_t number;
    std::uint64_t bytes;
  };

  static const Page& bytes_of(const PagePointer& page) noexcept;
  void put(std::size_t index, PagePointer page, std::uint64_t number);
  PagePointer durable(std::size_t index) const noexcept;
  void set_size(std::uint64_t size, std::uint64_t number);
  PagePointer page_after_crash(std::size_t index, const std::vector<Version>& versions,
                               Random& random, const CrashPlan& plan, CrashTally& tally) const;
  std::uint64_t size_after_crash(Random& random, const CrashPlan& plan, CrashTally& tally) const;

  std::vector<PagePointer> pages_, durable_pages_;
  std::uint64_t size_ = 0, durable_size_ = 0;
  std::map<std::size_t, std::vector<Version>> versions_;  // not synced, oldest first
  std::vector<Size> sizes_;
};

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
