// Folder: a folder for the files of one test. Owner of its content; removed with it.
//
// Thread     one.
// Fails      by aborting: without a folder there is no test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "katana/base/system/check.hpp"

namespace katana::database::sqlite {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "katana_database_XXXXXX").string();
    KATANA_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;  // what is left is the system's to remove
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  std::string write(std::string_view name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

// The number of descriptors of this process that have the file of this path open.
inline int open_files(const std::filesystem::path& path) {
  int found = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;  // a descriptor that was closed meanwhile, such as the iterator's
    found += std::filesystem::read_symlink(each.path(), ignored) == path ? 1 : 0;
  }
  return found;
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
