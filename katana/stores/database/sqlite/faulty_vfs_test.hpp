// FaultyVfs: SQLite's file layer with faults, and with a power switch.
//
//   faults().arm(Fault::sync_error, 3);   the third operation of that kind from now on fails
//   faults().cut_power();                 all data that was not flushed is gone
//
// Owns       the data to undo writes that were not flushed.
// Thread     any.
// Fails      by the faults that it was told to make.
// Invariant  writes before the last successful flush of a file survive cut_power(), and writes
//            after it do not: this is the strictest possible disk.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace katana::database::sqlite {

enum class Fault : std::uint8_t {
  none,
  short_write,
  write_error,
  full,
  sync_error,
  read_error,
  read_only
};

class Faults {
 public:
  // Registers the file layer "katana-faulty" once.
  Faults();

  // The operation number `at` (from 1) of the fault's kind fails; `lasting`: and those after it.
  void arm(Fault fault, int at, bool lasting = false) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    left_ = at;
    lasting_ = lasting;
  }
  void disarm() { arm(Fault::none, 0); }
  std::uint64_t struck() const {
    const std::lock_guard lock(mutex_);
    return struck_;
  }
  // Nothing gets to the disk from here on. When the files are closed, lose_unflushed() undoes
  // writes that were not flushed, and turns the power on again.
  void power_off() {
    const std::lock_guard lock(mutex_);
    off_ = true;
  }
  void lose_unflushed(const std::string& path);

  // Functions for the file layer.
  int write(const std::string& path, sqlite3_file* real, const void* data, int size,
            sqlite3_int64 at);
  int truncate(const std::string& path, sqlite3_file* real, sqlite3_int64 size);
  int sync(const std::string& path, sqlite3_file* real, int flags);
  int read(sqlite3_file* real, void* data, int size, sqlite3_int64 at);
  bool may_delete(const std::string& path);

 private:
  struct Undo {
    sqlite3_int64 at;
    std::string before;
    sqlite3_int64 size;
  };
  bool strikes(std::initializer_list<Fault> kinds);
  void remember(const std::string& path, sqlite3_file* real, sqlite3_int64 at, sqlite3_int64 size);

  mutable std::mutex mutex_;
  Fault fault_ = Fault::none;
  int left_ = 0;
  bool lasting_ = false;
  bool off_ = false;
  std::uint64_t struck_ = 0;
  std::map<std::string, std::vector<Undo>> unflushed_;
};

Faults& faults();

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
