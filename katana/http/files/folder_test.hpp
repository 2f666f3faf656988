// TestFolder: a test's folder with files, which is removed at its end.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace katana {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "katana-files-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;

  std::string path(std::string_view name = {}) const { return path_ / name; }

  // Writes a file with an old date: its tag is strong.
  void write(std::string_view name, std::string_view content, std::int64_t modified_s = old_s) {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    date(name, modified_s);
  }
  void date(std::string_view name, std::int64_t modified_s) {
    const timespec times[2] = {{modified_s, 0}, {modified_s, 0}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path(name).c_str(), times, 0), 0);
  }
  void link(std::string_view name, const std::string& target) {
    std::filesystem::create_symlink(target, path_ / name);
  }

  static constexpr std::int64_t old_s = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT

 private:
  std::filesystem::path path_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
