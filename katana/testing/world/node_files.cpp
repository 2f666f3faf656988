#include "katana/testing/world/node_files.hpp"

#include <optional>
#include <utility>

#include "katana/stores/database/sqlite/memory_folder.hpp"

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

}  // namespace

std::unique_ptr<NodeFiles> make_memory_files() { return std::make_unique<MemoryFiles>(); }

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
