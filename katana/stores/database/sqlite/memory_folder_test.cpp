#include "katana/stores/database/sqlite/memory_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace katana::database::sqlite {
namespace {

std::string folder_of(const MemoryFolder& folder) {
  return std::filesystem::path(folder.file()).parent_path().string();
}

TEST(MemoryFolder, goes_with_what_is_in_it) {
  std::string path;
  {
    auto made = MemoryFolder::make();
    ASSERT_TRUE(made) << made.error().describe();
    const MemoryFolder folder = *std::move(made);
    path = folder_of(folder);
    std::ofstream(folder.file()) << "rows";
    EXPECT_TRUE(std::filesystem::exists(folder.file()));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(MemoryFolder, leaves_no_file_open_when_it_goes) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  ASSERT_TRUE(MemoryFolder::make());  // the first one of a process looks for orphans
  const auto before = open_files();
  {
    const auto folder = MemoryFolder::make();
    ASSERT_TRUE(folder);
    EXPECT_EQ(open_files(), before + 1) << "its owner's lock";
  }
  EXPECT_EQ(open_files(), before);
}

TEST(MemoryFolder, what_a_process_left_that_died_is_removed_by_the_next) {
  const auto kept = MemoryFolder::make();
  ASSERT_TRUE(kept);
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto left = MemoryFolder::make();
    const std::string path = left ? folder_of(*left) : std::string();
    const bool told = ::write(pipes[1], path.data(), path.size()) > 0;
    ::_exit(told ? 0 : 1);  // without destructors
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  char text[256];
  const ssize_t size = ::read(pipes[0], text, sizeof text);
  ASSERT_GT(size, 0);
  const std::string left(text, static_cast<std::size_t>(size));
  EXPECT_TRUE(std::filesystem::exists(left));
  remove_orphaned_folders();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(folder_of(*kept)));
  ::close(pipes[0]);
  ::close(pipes[1]);
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
