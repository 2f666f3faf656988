#include "katana_tool/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace katana::tool {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> failed(const char* action, const fs::path& path) {
  return fail(Code::unavailable, fmt::format("cannot {} '{}': {}", action, path.string(),
                                             std::generic_category().message(errno)));
}

Result<void> write(const fs::path& path, std::string_view content, std::ios::openmode mode) {
  std::ofstream file(path, std::ios::binary | mode);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) return failed("write", path);
  return {};
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf())) return failed("read", path);
  return std::move(content).str();
}

Result<void> write_new_file(const fs::path& path, std::string_view content) {
  if (fs::exists(path)) {
    return fail(Code::already_exists,
                fmt::format("'{}' exists already; nothing was changed in it", path.string()));
  }
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  return write(path, content, std::ios::trunc);
}

Result<void> replace_file(const fs::path& path, std::string_view content) {
  const fs::path fresh = path.string() + ".new";
  if (auto written = write(fresh, content, std::ios::trunc); !written) return written;
  std::error_code error;
  fs::rename(fresh, path, error);
  if (error) {
    return fail(Code::unavailable,
                fmt::format("cannot replace '{}': {}", path.string(), error.message()));
  }
  return {};
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
