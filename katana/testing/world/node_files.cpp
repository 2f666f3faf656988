#include "katana/testing/world/node_files.hpp"

#include <optional>
#include <utility>

#include "katana/base/values/timestamp.hpp"
#include "katana/stores/database/sqlite/memory_folder.hpp"
#include "katana/testing/disk/simulated_disk.hpp"

namespace katana::testing {
namespace {

class MemoryFiles final : public NodeFiles {
 public:
  Result<void> prepare(database::sqlite::Options& options) override {
    if (!folder_) {
      auto made = database::sqlite::MemoryFolder::make();
      if (!made) return std::unexpected(made.error());
      folder_.emplace(*std::move(made));
    }
    options.path = folder_->file();
    return {};
  }
  void crash(Crash) override {}

 private:
  std::optional<database::sqlite::MemoryFolder> folder_;  // none: the node has no database
};

class DiskFiles final : public NodeFiles {
 public:
  explicit DiskFiles(DiskOptions options) : disk_(std::move(options)) {}
  Result<void> prepare(database::sqlite::Options& options) override {
    if (disk_.is_down()) disk_.restart();
    options.path = "node.db";
    options.vfs = disk_.vfs();
    return {};
  }
  void crash(Crash how) override { how == Crash::power ? disk_.crash() : disk_.end_process(); }
  std::uint64_t trace_hash() const override { return disk_.trace_hash(); }

 private:
  SimulatedDisk disk_;
};

}  // namespace

std::unique_ptr<NodeFiles> make_disk_files(DiskOptions options) {
  if (!options.unix_time_ms) {
    options.unix_time_ms = [] { return current_time().time_since_epoch().count() / 1'000; };
  }
  return std::make_unique<DiskFiles>(std::move(options));
}

std::unique_ptr<NodeFiles> make_memory_files() { return std::make_unique<MemoryFiles>(); }

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
