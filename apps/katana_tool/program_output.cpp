#include "katana_tool/program_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace katana::tool {

Result<std::string> output_of(const std::vector<std::string>& words, const std::string& remedy) {
  std::vector<std::string> owned(words);
  std::vector<char*> arguments;
  for (std::string& each : owned) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  const auto failed = [&](const char* what) {
    return fail(Code::unavailable, fmt::format("cannot {} '{}': {}", what, words.front(),
                                               std::generic_category().message(errno)));
  };
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed("make a pipe for");
  const pid_t child = fork();
  if (child < 0) return failed("start");
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execvp(arguments[0], arguments.data());
    fmt::print(stderr, "katana: cannot run '{}': {}; {}\n", words.front(),
               std::generic_category().message(errno), remedy);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 64 * 1024> piece;
  while (true) {
    const ssize_t count = read(ends[0], piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  return fail(Code::unavailable, fmt::format("'{}{}' failed, see above", words.front(),
                                             words.size() > 1 ? " " + words[1] : ""));
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
