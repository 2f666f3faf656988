#include "katana/stores/database/sqlite/memory_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

namespace katana::database::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "katana_memory_";
// This file is locked as long as its process lives, whatever ends the process.
constexpr const char* owner_file = "owner.lock";

std::array<fs::path, 2> parents() {
  std::error_code failure;
  return {"/dev/shm", fs::temp_directory_path(failure)};
}

void remove_whole(const fs::path& folder) {
  std::error_code ignored;  // what is left goes with the file system
  fs::remove_all(folder, ignored);
}

// Takes a lock of the open file, not of the process (fcntl(2), F_OFD_SETLK). False: another open
// file has it.
bool lock_whole(int file) {
  struct flock lock{};  // the whole file: from SEEK_SET, which is 0
  lock.l_type = F_WRLCK;
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

// Locked before it has its name, so that no process finds it without an owner. Negative: it cannot
// be made.
int lock_owner_file(const fs::path& folder) {
  const fs::path unnamed = folder / "owner.new";
  const int file = ::open(unnamed.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return file;
  if (lock_whole(file) && ::rename(unnamed.c_str(), (folder / owner_file).c_str()) == 0) {
    return file;
  }
  ::close(file);
  return -1;
}

}  // namespace

void remove_orphaned_folders() {
  for (const fs::path& parent : parents()) {
    std::error_code failure;
    for (fs::directory_iterator each(parent, failure), end; !failure && each != end;
         each.increment(failure)) {
      if (!each->path().filename().string().starts_with(prefix)) continue;
      const int file = ::open((each->path() / owner_file).c_str(), O_RDWR | O_CLOEXEC);
      if (file < 0) continue;  // another user's, or it is being made
      if (lock_whole(file)) remove_whole(each->path());
      ::close(file);
    }
  }
}

katana::Result<MemoryFolder> MemoryFolder::make() {
  static std::once_flag once;
  std::call_once(once, remove_orphaned_folders);
  for (const fs::path& parent : parents()) {
    std::string name = (parent / (std::string(prefix) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) continue;
    const int owner = lock_owner_file(name);
    if (owner < 0) {
      remove_whole(name);
      continue;
    }
    MemoryFolder made;
    made.path_ = std::move(name);
    made.owner_ = owner;
    return made;
  }
  return katana::fail(Code::unavailable,
                      fmt::format("database ':memory:': no folder can be made in '{}' or '{}': "
                                  "make one of them writable, or give a path",
                                  parents()[0].string(), parents()[1].string()));
}

MemoryFolder::~MemoryFolder() {
  if (path_.empty()) return;
  remove_whole(path_);
  ::close(owner_);
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
