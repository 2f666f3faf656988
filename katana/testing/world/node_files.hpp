// NodeFiles: the files of a node, which outlive its process: here the database of a program with
// SQLite.
//
// Owns       the files, until it is destroyed.
// Thread     the world's.
// Fails      prepare() with the reason; the node then does not start.
// Invariant  after crash() nothing that the former process still writes changes the files, as far
//            as the implementation models it, until the next prepare().
#pragma once

#include <cstdint>
#include <memory>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/sqlite/options.hpp"
#include "katana/testing/disk/disk_options.hpp"

namespace katana::testing {

// How a node ends without a drain.
enum class Crash : std::uint8_t {
  process,  // as by SIGKILL: the kernel resets its connections, and keeps what was written
  power,    // the machine is gone: connections end without a word, unsynced writes may be lost
};

class NodeFiles {
 public:
  virtual ~NodeFiles() = default;
  NodeFiles(const NodeFiles&) = delete;
  NodeFiles& operator=(const NodeFiles&) = delete;

  // Called at each start of the node, before its database is opened: sets path and VFS.
  virtual Result<void> prepare(database::sqlite::Options& options) = 0;
  // Called at the moment of a crash. The objects of the program still exist, and are destroyed
  // next.
  virtual void crash(Crash how) = 0;
  // Depends on every operation so far; 0: it is not known.
  virtual std::uint64_t trace_hash() const { return 0; }

 protected:
  NodeFiles() = default;
};

// A SimulatedDisk of the node's own: the default. At Crash::power it loses or tears what was not
// synced, as `options.seed` draws it. SQLite's 'now' is the node's time, unless the options have
// another.
std::unique_ptr<NodeFiles> make_disk_files(DiskOptions options);
// A file in memory (/dev/shm). Nothing that was committed is lost, also by Crash::power.
std::unique_ptr<NodeFiles> make_memory_files();

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
