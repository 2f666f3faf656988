#include "katana/stores/database/sqlite/file_identity.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

namespace katana::database::sqlite {

FileIdentity FileIdentity::of(const std::string& path, const std::string& vfs) noexcept {
  if (!vfs.empty()) {
    sqlite3_vfs* const files = sqlite3_vfs_find(vfs.c_str());
    int is_there = 0;
    if (files == nullptr ||
        files->xAccess(files, path.c_str(), SQLITE_ACCESS_READWRITE, &is_there) != SQLITE_OK) {
      return {};
    }
    return {.device = 0, .number = is_there != 0 ? 1U : 0U};
  }
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino};
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
