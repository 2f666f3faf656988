#include "katana/stores/database/sqlite/file_identity.hpp"

#include <sys/stat.h>

namespace katana::database::sqlite {

FileIdentity FileIdentity::of(const std::string& path) noexcept {
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino};
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
