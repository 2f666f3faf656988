// DiskCore: the files, faults and counters of a simulated disk. See simulated_disk.hpp.
//
// Owns       files by name, what was durable of the names, counters and the trace.
// Thread     any: each function takes the mutex. `on_delay` is called without it.
// Allocates  freely.
// Fails      by SQLite's result codes.
// Invariant  an open file of an earlier life is refused: see OpenFile::life.
#pragma once

#include <sqlite3.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/testing/disk/disk_file.hpp"
#include "katana/testing/disk/disk_locks.hpp"
#include "katana/testing/disk/disk_options.hpp"

namespace katana::testing::detail {

// An open file of a connection.
struct OpenFile {
  std::shared_ptr<DiskFile> file;
  std::string path;           // empty: a temporary file
  std::uint64_t life = 0;     // of the disk, when it was opened
  bool syncs_folder = false;  // at the first sync
  bool removed_at_close = false;
  int lock = SQLITE_LOCK_NONE;
  std::shared_ptr<SharedIndex> index;
  std::uint32_t shared_slots = 0, exclusive_slots = 0;
};

class DiskCore {
 public:
  explicit DiskCore(DiskOptions options);

  // ---- for the VFS
  int open(const char* path, int flags, OpenFile& opened);
  void close(OpenFile& opened);
  int read(const OpenFile& opened, char* to, std::size_t bytes, std::uint64_t at);
  int write(const OpenFile& opened, std::string_view data, std::uint64_t at);
  int truncate(const OpenFile& opened, std::uint64_t size);
  int sync(OpenFile& opened);
  int size(const OpenFile& opened, sqlite3_int64& bytes);
  int remove(std::string_view path, bool sync_folder);
  int access(std::string_view path, bool must_have_bytes, bool& result);
  bool has_moved(const OpenFile& opened);
  int lock(OpenFile& opened, int level);
  int unlock(OpenFile& opened, int level);
  int is_reserved(const OpenFile& opened, bool& result);
  int map_index(OpenFile& opened, std::size_t region, std::size_t bytes, bool extend,
                void volatile** memory);
  int lock_index(OpenFile& opened, int first, int count, int flags);
  void barrier();
  void unmap_index(OpenFile& opened);
  int random_bytes(char* to, int bytes);
  const DiskOptions& options() const noexcept { return options_; }

  // ---- for SimulatedDisk
  void end_life(bool power_fails);
  void crash_at(std::uint64_t operation);
  std::uint64_t operations() const;
  bool is_down() const;
  void restart();
  std::unique_ptr<DiskCore> after_crash(std::uint64_t seed) const;
  void fail(DiskFault fault, std::uint64_t at, std::uint64_t times, std::string_view suffix);
  void set_capacity(std::uint64_t bytes);
  void heal();
  bool flip_bit(std::string_view path, std::uint64_t bit);
  std::uint64_t count(DiskPoint point) const;
  Duration delay() const;
  std::uint64_t trace_hash() const;
  std::vector<std::string> trace() const;
  std::vector<std::string> files() const;
  std::uint64_t file_bytes(std::string_view path) const;
  std::size_t open_files() const;

 private:
  using Names = std::map<std::string, std::shared_ptr<DiskFile>, std::less<>>;
  // A name that was made, or removed (null), and whose folder was not synced since.
  struct NameChange {
    std::uint64_t number;
    std::string path;
    std::shared_ptr<DiskFile> file;
  };
  struct Planned {
    std::uint64_t before = 0;  // operations of the kind that succeed
    std::uint64_t times = 0;   // and then fail
    std::string suffix;
  };

  // All below REQUIRE the mutex.
  bool is_dead(const OpenFile& opened);
  // Counts an operation; true: the power fails within it.
  bool begin_operation() noexcept;
  int power_failed(int code);
  bool strikes(DiskFault fault, std::string_view path, std::uint32_t per_1024);
  void change_name(std::string_view path, std::shared_ptr<DiskFile> file);
  void sync_folder(std::string_view path);
  void sync_folder_within_operation(std::string_view path);
  std::uint64_t room_for(const OpenFile& opened, std::size_t bytes, std::uint64_t at) const;
  Names names_after_crash(Random& random, CrashTally& tally, std::uint64_t& names_lost) const;
  void note(DiskPoint point, std::string_view path, std::uint64_t at, std::uint64_t bytes,
            int code);
  void add(DiskPoint point, std::uint64_t count = 1) noexcept {
    counts_[static_cast<std::size_t>(point)] += count;
  }

  const DiskOptions options_;
  mutable std::mutex mutex_;  // what follows
  Random random_;
  Names names_, durable_names_;
  std::vector<NameChange> name_changes_;
  std::array<Planned, 3> planned_;
  std::uint64_t capacity_bytes_;
  std::uint64_t life_ = 1;
  bool is_down_ = false;
  std::uint64_t operations_ = 0, crash_at_ = 0;
  std::size_t open_files_ = 0;
  std::array<std::uint64_t, disk_point_count> counts_{};
  Duration delay_ = {};
  std::uint64_t trace_hash_ = 0xcbf29ce484222325;
  std::uint64_t traced_ = 0;
  std::deque<std::string> trace_;
};

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
