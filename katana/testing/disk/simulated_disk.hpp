// SimulatedDisk: files in memory for SQLite, on a disk that loses power, fails, fills up and rots.
//
//   testing::SimulatedDisk disk({.seed = 7});
//   auto database = database::sqlite::open({.path = "bank.db", .vfs = disk.vfs()});
//   disk.crash_at(disk.operations() + 40);     // the power fails within the 40th operation to come
//   …                                          // the program works until its disk is gone
//   database.reset();
//   disk.restart();                            // what a crash may leave; open the file again
//
// It is a VFS of SQLite (https://sqlite.org/vfs.html), registered under a unique name. Several
// connections and threads of the process use it at once, with a write-ahead log.
//
//   a write           is volatile until its file is synced. A crash keeps it, loses it or tears it,
//                     sector by sector, and in any order among writes that were not synced.
//   a name            that was made or removed is volatile until its folder is synced: by the first
//                     sync of a journal or log that was created (as SQLite's unix VFS does), and by
//                     a removal that asks for it.
//   a failed sync     loses pages: no later sync writes them. Programs then read them as before
//                     (ext4, XFS) or as they are on the disk (btrfs); the seed draws which.
//   a full disk       takes what fits of a write, and fails it.
//   rot               replaces bytes of sectors that were not synced when the power failed.
//   time              is counted, and passed to `on_delay`; nothing sleeps.
//
// Rename (SQLite has none), memory-mapped files, other processes, and files that are not SQLite's
// are not modelled. Synced data is damaged by flip_bit() alone.
//
// Owns       its files, and the registration of its VFS.
// Borrows    functions of its options.
// Thread     any; they wait for one another. crash() and restart() as well. Operations come in one
//            order, and so have one trace, if one thread makes them.
// Allocates  freely: a test's tool.
// Fails      as real files do, by SQLite's result codes.
// Invariant  what a successful sync covered is there after each crash, unless ignores_sync is set.
//            After crash() each file that was open fails for ever, so that a program of before
//            the crash changes nothing behind it. REQUIRES at the end that no file is open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/testing/disk/disk_options.hpp"

namespace katana::testing {

namespace detail {
class DiskCore;
struct DiskVfs;
}  // namespace detail

class SimulatedDisk {
 public:
  explicit SimulatedDisk(DiskOptions options = {});
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;
  ~SimulatedDisk();

  // The name of the VFS: for Options::vfs of sqlite::open(), sqlite3_open_v2() and file:…?vfs=.
  const std::string& vfs() const noexcept { return vfs_name_; }

  // ---- crashes

  // The power fails now. Nothing opens a file until restart().
  void crash();
  // The process ends now, without the system: everything that was written is there.
  void end_process();
  // The power fails within the operation of this number: operations() counts writes, truncations,
  // syncs, and names made or removed. 0: never.
  void crash_at(std::uint64_t operation);
  std::uint64_t operations() const;
  bool is_down() const;
  // Files can be opened again: what the crash left of them.
  void restart();
  // Another disk, with what a crash would leave now if `seed` drew it. This one goes on.
  std::unique_ptr<SimulatedDisk> after_crash(std::uint64_t seed) const;

  // ---- faults

  // The operation number `at` (from 1) of that kind from now on fails, and those behind it: `times`
  // in all, or disk_fault_always. Only files whose name ends with `suffix`, such as "-wal".
  void fail(DiskFault fault, std::uint64_t at = 1, std::uint64_t times = 1,
            std::string_view suffix = {});
  void set_capacity(std::uint64_t bytes);
  // Ends faults of fail() and set_capacity(). Those of the options go on.
  void heal();
  // Changes a bit, synced or not. False: the file has no such byte.
  bool flip_bit(std::string_view path, std::uint64_t bit);

  // ---- what happened

  std::uint64_t count(DiskPoint point) const;  // how often it was reached
  // "sync 12, page_torn 3, …": points that were reached.
  std::string coverage() const;
  Duration delay() const;  // of all operations
  // A hash of all operations so far: their kinds, files, places, sizes and results. It is without
  // locks, and without contents, because SQLite draws random numbers into its log.
  std::uint64_t trace_hash() const;
  // The last operations, a line each: "41 write bank.db-wal 4152+4096".
  std::vector<std::string> trace() const;
  std::vector<std::string> files() const;                 // names that programs see, in order
  std::uint64_t file_bytes(std::string_view path) const;  // 0: there is no such file

 private:
  explicit SimulatedDisk(std::unique_ptr<detail::DiskCore> core);

  std::unique_ptr<detail::DiskCore> core_;
  std::string vfs_name_;
  std::unique_ptr<detail::DiskVfs> registered_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
