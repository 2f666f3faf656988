// FileIdentity: identifies the file under a name, to notice when another file is there, or none.
//
// Owns       two numbers.
// Thread     a value.
// Allocates  never.
// Fails      a file that is missing, or that cannot be looked at, has no identity.
#pragma once

#include <cstdint>
#include <string>

namespace katana::database::sqlite {

struct FileIdentity {
  std::uint64_t device = 0;                             // st_dev of stat(2)
  std::uint64_t number = 0;                             // st_ino of stat(2); 0: there is no file
  bool exists() const noexcept { return number != 0; }  // whether the file was there at of()
  bool operator==(const FileIdentity&) const = default;

  // Follows symbolic links. With a `vfs` of SQLite it says only whether the file is there.
  static FileIdentity of(const std::string& path, const std::string& vfs) noexcept;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
