// Reading and writing whole files, for the subcommands.
//
// Owns       nothing.
// Thread     one.
// Allocates  the contents that it reads.
// Fails      with the path and the system's reason.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "katana/base/system/result.hpp"

namespace katana::tool {

Result<std::string> read_file(const std::filesystem::path& path);
// Makes its folders. REQUIRES that nothing is there: a file is never replaced.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view content);
// Replaces the file as a whole, or not at all.
Result<void> replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
