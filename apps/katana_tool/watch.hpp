// FileWatch: tells when something below some folders has changed (inotify).
//
// Owns       a descriptor, and a watch for each folder.
// Thread     one.
// Allocates  the list of folders.
// Fails      open(): a folder that is not there, or fs.inotify.max_user_watches is used up.
// Invariant  folders that are made later are watched as well. Hidden folders, and build folders
//            (those with a CMakeCache.txt or the name "build"), are left out.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::tool {

class FileWatch {
 public:
  static Result<FileWatch> open(const std::filesystem::path& root);
  ~FileWatch();
  FileWatch(FileWatch&& other) noexcept;
  FileWatch& operator=(FileWatch&&) = delete;

  // Readable when take() has something to say.
  int descriptor() const noexcept { return descriptor_; }
  // The files that have changed since the last call, in alphabetical order. Does not wait.
  std::vector<std::string> take();

 private:
  explicit FileWatch(int descriptor) noexcept : descriptor_(descriptor) {}
  Result<void> add(const std::filesystem::path& folder);

  int descriptor_ = -1;
  std::map<int, std::filesystem::path> folders_;  // by watch
};

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
