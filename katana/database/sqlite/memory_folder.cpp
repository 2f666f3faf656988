#include "katana/database/sqlite/memory_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace katana::database::sqlite {

katana::Result<MemoryFolder> MemoryFolder::make() {
  std::error_code failure;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
  for (const std::filesystem::path& parent : {std::filesystem::path("/dev/shm"), temporary}) {
    std::string name = (parent / "katana_memory_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) continue;
    MemoryFolder made;
    made.path_ = std::move(name);
    return made;
  }
  return katana::fail(Code::unavailable,
                      fmt::format("database ':memory:': no folder can be made in /dev/shm or '{}': "
                                  "make one of them writable, or give a path",
                                  temporary.string()));
}

MemoryFolder::~MemoryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;  // what is left goes with the file system
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace katana::database::sqlite
