// FileIdentity: which file stands under a name, to notice when it is another one, or none.
//
// Owns       two numbers.
// Thread     a value.
// Allocates  never.
// Fails      a file that is not there is of no identity.
#pragma once

#include <cstdint>
#include <string>

namespace katana::database::sqlite {

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool exists() const noexcept { return number != 0; }
  bool operator==(const FileIdentity&) const = default;

  static FileIdentity of(const std::string& path) noexcept;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
