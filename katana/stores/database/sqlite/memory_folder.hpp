// MemoryFolder: the folder of a database ':memory:', in memory.
//
// SQLite's own ':memory:' is another database for each connection. Its shared cache has neither
// a write-ahead log nor snapshots: a reader would fail while a transaction is open. A file on a
// file system in memory (/dev/shm) is an ordinary database that never meets a disk.
//
// Owns       the folder, and what is in it: both go with it. The next process that makes such a
//            folder removes the folders of dead ones.
// Thread     one.
// Fails      make() names the folders that it tried.
#pragma once

#include <string>
#include <utility>

#include "katana/base/system/result.hpp"

namespace katana::database::sqlite {

class MemoryFolder {
 public:
  // Makes the folder in /dev/shm. Where that cannot be written to: in the folder for temporary
  // files.
  static katana::Result<MemoryFolder> make();
  MemoryFolder() noexcept = default;  // none
  MemoryFolder(MemoryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), owner_(other.owner_) {}
  MemoryFolder& operator=(MemoryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~MemoryFolder();

  // The file of the database.
  std::string file() const { return path_ + "/memory.db"; }

 private:
  std::string path_;  // empty: none
  int owner_ = -1;    // a lock in it that says that this process lives
};

// Removes the folders of processes that died. The first make() of a process calls it.
void remove_orphaned_folders();

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
