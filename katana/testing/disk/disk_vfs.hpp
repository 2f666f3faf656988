// DiskVfs: a simulated disk as a VFS of SQLite. See simulated_disk.hpp.
//
// Owns       its registration.
// Borrows    the disk's core.
// Thread     any.
// Allocates  for each file that is opened.
// Fails      by SQLite's result codes.
// Invariant  a path is used as it is; one that is relative begins at '/'.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

namespace katana::testing::detail {

class DiskCore;

struct DiskVfs {
  // `name` outlives it.
  DiskVfs(DiskCore& core, const std::string& name);
  DiskVfs(const DiskVfs&) = delete;
  DiskVfs& operator=(const DiskVfs&) = delete;
  ~DiskVfs();

  sqlite3_vfs vfs;
};

std::string full_path(std::string_view path);

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
