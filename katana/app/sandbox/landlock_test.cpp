#include "katana/app/sandbox/landlock.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "katana/app/sandbox/child_test.hpp"

namespace katana::sandbox {
namespace {

namespace fs = std::filesystem;

int open_error(const fs::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  return file < 0 ? errno : 0;
}

class LandlockTest : public testing::Test {
 protected:
  void SetUp() override {
    if (landlock_version() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    std::string name = (fs::temp_directory_path() / "katana_landlock_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* each : {"readable", "writable", "other"}) {
      fs::create_directory(folder_ / each);
      std::ofstream(folder_ / each / "file") << each;
    }
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  LandlockRules rules() const {
    return {.read = {(folder_ / "readable").string()}, .write = {(folder_ / "writable").string()}};
  }

  fs::path folder_;
};

TEST_F(LandlockTest, what_is_outside_is_not_opened) {
  EXPECT_EQ(in_child([&] {
              const auto report = restrict_files(rules());
              if (!report || report->read != 1 || report->write != 1) return 1;
              if (open_error(folder_ / "readable/file", O_RDONLY) != 0) return 2;
              if (open_error(folder_ / "readable/file", O_RDWR) != EACCES) return 3;
              if (open_error(folder_ / "readable/new", O_CREAT | O_WRONLY) != EACCES) return 4;
              if (open_error(folder_ / "other/file", O_RDONLY) != EACCES) return 5;
              if (open_error("/etc/passwd", O_RDONLY) != EACCES) return 6;
              if (open_error(folder_ / "readable/../other/file", O_RDONLY) != EACCES) return 7;
              return 0;
            }),
            0);
}

TEST_F(LandlockTest, files_are_made_renamed_and_removed_where_they_may_be_written) {
  EXPECT_EQ(in_child([&] {
              if (!restrict_files(rules())) return 1;
              const fs::path in = folder_ / "writable";
              if (open_error(in / "new", O_CREAT | O_RDWR | O_TRUNC) != 0) return 2;
              if (::rename((in / "new").c_str(), (in / "newer").c_str()) != 0) return 3;
              if (::unlink((in / "newer").c_str()) != 0) return 4;
              if (::mkdir((in / "folder").c_str(), 0700) != 0) return 5;
              return 0;
            }),
            0);
}

TEST_F(LandlockTest, a_link_to_the_outside_leads_nowhere) {
  fs::create_symlink(folder_ / "other/file", folder_ / "readable/link");
  EXPECT_EQ(in_child([&] {
              if (!restrict_files(rules())) return 1;
              return open_error(folder_ / "readable/link", O_RDONLY);
            }),
            EACCES);
}

TEST_F(LandlockTest, nothing_is_executed) {
  EXPECT_EQ(in_child([&] {
              LandlockRules all = rules();
              all.read = {"/usr", "/lib", "/lib64", "/bin"};
              if (!restrict_files(all)) return 1;
              char name[] = "/bin/true";
              char* const arguments[] = {name, nullptr};
              ::execv(name, arguments);
              return errno;
            }),
            EACCES);
}

TEST_F(LandlockTest, a_path_that_is_not_there_is_reported) {
  EXPECT_EQ(in_child([&] {
              LandlockRules more = rules();
              more.read.push_back((folder_ / "absent").string());
              const auto report = restrict_files(more);
              return report && report->absent == std::vector{(folder_ / "absent").string()} ? 0 : 1;
            }),
            0);
}

TEST_F(LandlockTest, only_the_ports_named_are_bound_and_none_is_connected_to) {
  if (landlock_version() < 4) GTEST_SKIP() << "this kernel's Landlock knows no ports";
  EXPECT_EQ(in_child([&] {
              LandlockRules of_ports = rules();
              of_ports.bind = {{0}};
              of_ports.connect = false;
              const auto report = restrict_files(of_ports);
              if (!report || !report->ports) return 1;
              if (bind_error(0) != 0) return 2;
              if (bind_error(45'321) != EACCES) return 3;
              const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
              sockaddr_in address{};
              address.sin_family = AF_INET;
              address.sin_port = htons(9);
              address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
              const auto* const to = reinterpret_cast<sockaddr*>(&address);
              return ::connect(socket, to, sizeof address) < 0 && errno == EACCES ? 0 : 4;
            }),
            0);
}

TEST_F(LandlockTest, no_signal_leaves_these_rules) {
  if (landlock_version() < 6) GTEST_SKIP() << "this kernel's Landlock knows no signals";
  EXPECT_EQ(in_child([&] {
              if (!restrict_files(rules())) return 1;
              if (::kill(::getpid(), 0) != 0) return 2;
              return ::kill(::getppid(), 0) != 0 && errno == EPERM ? 0 : 3;
            }),
            0);
}

TEST_F(LandlockTest, an_older_version_enforces_files_and_says_what_it_cannot) {
  EXPECT_EQ(in_child([&] {
              LandlockRules of_ports = rules();
              of_ports.bind = {{0}};
              const auto report = restrict_files(of_ports, 1);
              if (!report || report->version != 1 || report->ports) return 1;
              if (report->not_enforced.size() != 4) return 2;
              return open_error(folder_ / "other/file", O_RDONLY) == EACCES ? 0 : 3;
            }),
            0);
}

TEST(Landlock, a_kernel_without_it_is_no_failure) {
  EXPECT_EQ(in_child([] {
              const auto report = restrict_files({.read = {"/usr"}}, 0);
              if (!report || report->version != 0) return 1;
              return report->not_enforced.size() == 1 ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
