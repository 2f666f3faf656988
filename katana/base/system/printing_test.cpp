// Lines for descriptors that take nothing: pipes, sockets and terminals that are not read.
#include "katana/base/system/printing.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace katana {
namespace {

struct Ends {
  int reads = -1;
  int writes = -1;
  ~Ends() {
    if (reads >= 0) ::close(reads);
    if (writes >= 0) ::close(writes);
  }
};

Ends pipe_ends() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  return {ends[0], ends[1]};
}

std::string read_all(int descriptor, std::size_t size) {
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(descriptor, text.data() + done, size - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

// Until it takes nothing more. The flags are those of a descriptor that was inherited.
std::size_t fill(int descriptor) {
  const std::string many(4096, 'x');
  std::size_t sum = 0;
  while (const std::size_t taken = print_without_waiting(descriptor, many)) sum += taken;
  EXPECT_EQ(::fcntl(descriptor, F_GETFL) & O_NONBLOCK, 0);
  return sum;
}

TEST(Printing, a_pipe_that_is_not_read_takes_what_it_has_room_for_and_never_waits) {
  const Ends ends = pipe_ends();
  EXPECT_EQ(print_without_waiting(ends.writes, "hello\n"), 6u);
  EXPECT_EQ(read_all(ends.reads, 6), "hello\n");
  EXPECT_GE(fill(ends.writes), 4096u);
  EXPECT_EQ(print_without_waiting(ends.writes, "no room"), 0u);
}

TEST(Printing, a_socket_that_is_not_read_does_likewise) {
  std::array<int, 2> both{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both.data()), 0);
  const Ends ends{both[0], both[1]};
  EXPECT_GE(fill(ends.writes), 4096u);
  EXPECT_EQ(print_without_waiting(ends.writes, "no room"), 0u);
}

TEST(Printing, a_terminal_that_was_stopped_takes_nothing) {
  int outer = -1, inner = -1;
  ASSERT_EQ(::openpty(&outer, &inner, nullptr, nullptr, nullptr), 0);
  const Ends ends{outer, inner};
  EXPECT_EQ(print_without_waiting(inner, "a"), 1u);
  ASSERT_EQ(::tcflow(inner, TCOOFF), 0);  // as Ctrl-S
  EXPECT_EQ(print_without_waiting(inner, "b"), 0u);
  ASSERT_EQ(::tcflow(inner, TCOON), 0);
  EXPECT_EQ(print_without_waiting(inner, "c"), 1u);
}

TEST(Printing, a_reader_that_is_gone_and_a_closed_descriptor_raise_no_signal) {
  ASSERT_NE(std::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  Ends ends = pipe_ends();
  ::close(std::exchange(ends.reads, -1));
  EXPECT_EQ(print_without_waiting(ends.writes, "nobody"), 0u);
  const int closed = ::dup(ends.writes);
  ::close(closed);
  EXPECT_EQ(print_without_waiting(closed, "nobody"), 0u);
}

TEST(Printing, errno_stays_as_it_was) {
  const Ends ends = pipe_ends();
  fill(ends.writes);
  errno = ENOENT;
  print_without_waiting(ends.writes, "no room");
  EXPECT_EQ(errno, ENOENT);
}

TEST(Printing, a_line_that_finds_no_room_is_printed_once_its_reader_comes) {
  const Ends ends = pipe_ends();
  const std::size_t before = fill(ends.writes);
  print_soon(ends.writes, "ready\n");
  EXPECT_EQ(read_all(ends.reads, before).size(), before);
  EXPECT_EQ(read_all(ends.reads, 6), "ready\n");
}

TEST(Printing, two_descriptors_of_one_pipe_are_one_output_and_those_of_two_are_not) {
  const Ends one = pipe_ends();
  const Ends other = pipe_ends();
  const int copy = ::dup(one.writes);
  EXPECT_TRUE(same_output(one.writes, copy));
  EXPECT_FALSE(same_output(one.writes, other.writes));
  ::close(copy);
  EXPECT_FALSE(same_output(one.writes, copy)) << "it is closed";
}

TEST(Printing, standard_descriptors_that_are_closed_are_kept_from_files_to_come) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDIN_FILENO);
    ::close(STDERR_FILENO);
    keep_standard_descriptors();
    const int next = ::open("/dev/zero", O_RDONLY);
    ::_exit(next > STDERR_FILENO && ::write(STDERR_FILENO, "x", 1) == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
