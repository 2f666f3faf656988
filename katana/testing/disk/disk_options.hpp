// Options, faults and counters of a simulated disk. See simulated_disk.hpp.
//
// Owns       values, and functions that a test gives.
// Thread     values.
// Allocates  as std::function does.
// Fails      never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "katana/base/values/instant.hpp"

namespace katana::testing {

// Events of a disk. Each has a counter.
enum class DiskPoint : std::uint8_t {
  open,           // of a file that is there
  create,         // of a file that was not
  read,           // of bytes
  write,          // likewise
  truncate,       // of a file to a size
  sync,           // of a file
  folder_sync,    // of names
  remove,         // of a name
  power_failure,  // by crash() or crash_at()
  process_end,    // by end_process()
  page_kept,      // of those that were not synced at a crash
  page_lost,      // or an older version was left
  page_torn,      // sectors of several versions
  page_rotten,    // bytes that nothing wrote
  size_lost,      // a file that is shorter or longer than it was
  name_lost,      // a file that was made, and has no name any more; or was removed, and is back
  sync_failed,
  pages_dropped,  // by a failed sync: programs read what is on the disk
  read_failed,
  write_failed,
  full,
  dead_call,  // by a program of before the crash
};
// Array size for counts by DiskPoint.
constexpr std::size_t disk_point_count = static_cast<std::size_t>(DiskPoint::dead_call) + 1;
// "power_failure", as coverage() has it.
std::string_view name_of(DiskPoint point) noexcept;

// Errors that a test asks for.
enum class DiskFault : std::uint8_t { read_error, write_error, sync_error };
// As the number of failures: until SimulatedDisk::heal().
inline constexpr std::uint64_t disk_fault_always = UINT64_MAX;

// The kind of a disk, and which of its operations fail.
struct DiskOptions {
  std::uint64_t seed = 1;  // of crashes and errors
  // The disk writes so many bytes as a whole or not at all: 512 or 4096. 0: the seed draws it at
  // each crash.
  std::size_t sector_bytes = 0;
  // The disk spares the bytes beside those that it writes (SQLITE_IOCAP_POWERSAFE_OVERWRITE), as
  // SQLite takes for granted on Linux. False: rot takes whole sectors, and SQLite pads its log.
  bool powersafe_overwrite = true;
  bool ignores_sync = false;       // a disk that lies: a sync succeeds, and does nothing
  std::uint32_t rot_per_1024 = 0;  // chance of a sector that was not synced, at a crash
  // Chance of each operation to fail.
  std::uint32_t sync_errors_per_1024 = 0;
  std::uint32_t write_errors_per_1024 = 0;
  std::uint32_t read_errors_per_1024 = 0;
  std::uint64_t capacity_bytes = UINT64_MAX;  // in pages of 4 KiB
  Duration read_time = {};                    // of each operation
  Duration write_time = {};
  Duration sync_time = {};
  std::function<void(Duration)> on_delay = {};      // hears of these times, after the operation
  std::function<std::int64_t()> unix_time_ms = {};  // SQLite's 'now'; null: the machine's clock
  std::size_t trace_lines_max = 200;                // of trace()
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
