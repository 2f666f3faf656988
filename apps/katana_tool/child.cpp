#include "katana_tool/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace katana::tool {
namespace {

// In the child, before exec: nothing here allocates but setenv.
[[noreturn]] void become(const std::vector<char*>& arguments, int listener,
                         const std::string& notify_socket, int failure_pipe) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (listener >= 0) {
    // dup2 onto itself would keep FD_CLOEXEC.
    if (listener == 3)
      fcntl(3, F_SETFD, 0);
    else
      dup2(listener, 3);
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_PID", fmt::format("{}", getpid()).c_str(), 1);
  }
  if (!notify_socket.empty()) setenv("NOTIFY_SOCKET", notify_socket.c_str(), 1);
  execvp(arguments[0], arguments.data());
  const int number = errno;
  (void)!::write(failure_pipe, &number, sizeof number);
  _exit(127);
}

}  // namespace

Child::Child(pid_t process) noexcept
    : process_(process),
      group_(process),
      descriptor_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))) {}

Result<Child> Child::start(const std::vector<std::string>& command, int listener,
                           const std::string& notify_socket) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> failure{-1, -1};
  if (pipe2(failure.data(), O_CLOEXEC) != 0) {
    return fail(Code::unavailable, fmt::format("pipe: {}", std::generic_category().message(errno)));
  }
  if (failure[1] == 3) {  // where the listener goes
    failure[1] = fcntl(failure[1], F_DUPFD_CLOEXEC, 10);
    ::close(3);
  }
  const pid_t process = fork();
  if (process == 0) become(arguments, listener, notify_socket, failure[1]);
  ::close(failure[1]);
  int number = process < 0 ? errno : 0;
  if (process > 0 && ::read(failure[0], &number, sizeof number) == sizeof number) {
    waitpid(process, nullptr, 0);
  }
  ::close(failure[0]);
  if (number != 0) {
    return fail(Code::unavailable, fmt::format("cannot run '{}': {}", command[0],
                                               std::generic_category().message(number)));
  }
  setpgid(process, process);  // as the child does: the first one counts
  return Child(process);
}

void Child::signal(int number) noexcept {
  if (process_ != 0) ::kill(process_, number);
}

void Child::replace(pid_t process) noexcept {
  close_descriptor();
  process_ = process;
  descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
}

// Also those that were replaced, or left behind.
void Child::kill_group() noexcept {
  ::kill(-group_, SIGKILL);
  while (waitpid(-group_, nullptr, 0) > 0) {
  }
  process_ = group_ = 0;
  close_descriptor();
}

void Child::close_descriptor() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::string Child::reap() {
  if (process_ == 0) return {};
  int status = 0;
  waitpid(process_, &status, 0);
  kill_group();
  if (WIFSIGNALED(status)) {
    return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return WEXITSTATUS(status) == 0 ? std::string()
                                  : fmt::format("exit status {}", WEXITSTATUS(status));
}

void Child::end(Duration patience) noexcept {
  if (process_ == 0) return;
  if (patience > Duration{}) {
    ::kill(-group_, SIGTERM);
    pollfd over{.fd = descriptor_, .events = POLLIN, .revents = 0};
    (void)poll(&over, 1, static_cast<int>(patience.count_ms()));
  }
  kill_group();
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
