// Outputs to targets that are no file of the log: descriptors under a name, sockets, pipes.
#include "katana/observe/log/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace katana::log {
namespace {

const std::unique_ptr<Layout> text_layout = make_layout(LayoutKind::text);

class OutputTest : public testing::Test {
 protected:
  ~OutputTest() override {
    for (const int descriptor : descriptors) ::close(descriptor);
    unlink(path.c_str());
  }
  // The content of the regular file.
  std::string content() const {
    std::string text(256, '\0');
    const ssize_t count = pread(descriptors[0], text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

  std::string path = testing::TempDir() + fmt::format("katana_output_test.{}", getpid());
  std::array<int, 3> descriptors = {::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600), -1, -1};
};

TEST_F(OutputTest, of_a_regular_file_that_is_named_by_its_descriptor_is_neither_cut_nor_renamed) {
  ASSERT_EQ(::write(descriptors[0], "of others, not ended", 20), 20);
  FileOutput output(fmt::format("/proc/self/fd/{}", descriptors[0]));
  ASSERT_TRUE(output.open(*text_layout));
  ASSERT_TRUE(output.write("one\n"));
  EXPECT_EQ(output.size(), 4u);
  ASSERT_TRUE(output.rotate(2, *text_layout));
  EXPECT_EQ(output.size(), 0u);
  ASSERT_TRUE(output.write("two\n"));
  EXPECT_EQ(content(), "of others, not endedone\ntwo\n");
  struct stat facts{};
  EXPECT_EQ(stat(path.c_str(), &facts), 0);
}

TEST_F(OutputTest, of_a_file_in_shared_memory_is_rotated_as_any_file) {
  const std::string file = fmt::format("/dev/shm/katana_output_test.{}", getpid());
  FileOutput output(file);
  ASSERT_TRUE(output.open(*text_layout));
  ASSERT_TRUE(output.write("one\n"));
  ASSERT_TRUE(output.rotate(1, *text_layout));
  EXPECT_EQ(output.size(), 0u);
  struct stat facts{};
  ASSERT_EQ(stat((file + ".1").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, 4);
  unlink(file.c_str());
  unlink((file + ".1").c_str());
}

TEST_F(OutputTest, to_standard_output_works_where_that_is_a_socket) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  descriptors[1] = ends[0];
  descriptors[2] = dup(STDOUT_FILENO);
  std::fflush(stdout);
  ASSERT_GE(dup2(ends[1], STDOUT_FILENO), 0);
  ::close(ends[1]);
  FileOutput output("/dev/stdout");
  const Result<void> opened = output.open(*text_layout);
  const Result<void> written = opened ? output.write("one\n") : opened;
  const Result<void> rotated = output.rotate(2, *text_layout);
  ASSERT_GE(dup2(descriptors[2], STDOUT_FILENO), 0);
  ASSERT_TRUE(opened) << opened.error().describe();
  ASSERT_TRUE(written) << written.error().describe();
  ASSERT_TRUE(rotated) << rotated.error().describe();
  std::array<char, 16> got{};
  ASSERT_EQ(read(descriptors[1], got.data(), got.size()), 4);
  EXPECT_EQ(Bytes(got.data(), 4), "one\n");
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
