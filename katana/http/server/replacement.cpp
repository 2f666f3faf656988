#include "katana/http/server/replacement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/http/server/inherited_listeners.hpp"

namespace katana::server {
namespace {

namespace fs = std::filesystem;

constexpr int first_descriptor = 3;
constexpr std::string_view process_variable = "LISTEN_PID=";
constexpr std::size_t digits_max = 10;

std::string reason_of(int error) { return std::generic_category().message(error); }

// Returns the path that the C library's execvp() would run.
std::string found_in_path(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  std::string_view left = folders != nullptr ? folders : "/usr/bin:/bin";
  while (!left.empty()) {
    const std::size_t colon = left.find(':');
    const std::string path = fmt::format("{}/{}", left.substr(0, colon), name);
    if (path.starts_with('/') && ::access(path.c_str(), X_OK) == 0) return path;
    left = colon == std::string_view::npos ? "" : left.substr(colon + 1);
  }
  return {};
}

std::string path_of_this_program(const std::string& name) {
  std::error_code failure;
  const bool is_path = name.find('/') != std::string::npos;
  std::string path = is_path ? fs::absolute(name, failure).string() : found_in_path(name);
  // The name by which the program was started may lead to no executable file.
  if (path.empty() || ::access(path.c_str(), X_OK) != 0) {
    path = fs::read_symlink("/proc/self/exe", failure).string();
  }
  return path;
}

// Environment and arguments for exec(), made while memory may be allocated.
class Texts {
 public:
  void add(std::string text) { texts_.push_back(std::move(text)); }
  // Valid until the next add().
  char* const* pointers() {
    pointers_.clear();
    for (std::string& each : texts_) pointers_.push_back(each.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }
  char* last() { return texts_.back().data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

// Leaves out the variables that were for this process alone.
Texts environment_for(std::span<const HandedSocket> sockets) {
  constexpr std::array dropped = {"LISTEN_FDS=", "LISTEN_PID=", "LISTEN_FDNAMES=", "WATCHDOG_PID="};
  Texts texts;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text = *each;
    if (std::ranges::none_of(dropped, [text](auto name) { return text.starts_with(name); })) {
      texts.add(std::string(text));
    }
  }
  std::string names = "LISTEN_FDNAMES=";
  for (const HandedSocket& each : sockets) names += each.name + ':';
  texts.add(names + "katana.ready");
  texts.add(fmt::format("LISTEN_FDS={}", sockets.size() + 1));
  texts.add(std::string(process_variable) + std::string(digits_max, ' '));  // written by the child
  return texts;
}

// State of the child, which shares the memory of this process until exec().
struct Start {
  const char* program;
  char* const* arguments;
  char* const* environment;
  char* process_number;        // place of digits_max characters and a NUL
  std::span<int> descriptors;  // become 3, 4, …
  int failure = 0;             // of exec()
};

void write_number(char* text, pid_t number) noexcept {
  std::array<char, digits_max> digits;
  std::size_t count = 0;
  for (; number > 0 && count < digits.size(); number /= 10) {
    digits[count++] = static_cast<char>('0' + number % 10);
  }
  while (count > 0) *text++ = digits[--count];
  *text = 0;
}

// Runs in the child. The memory is that of the parent with its running threads: only system calls
// are allowed.
[[noreturn]] void become(Start& start) noexcept {
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &by_default, nullptr);  // other ignored signals stay ignored
  // Moves the descriptors away from their targets.
  const int behind = first_descriptor + static_cast<int>(start.descriptors.size());
  for (int& each : start.descriptors) {
    if (each >= 0 && each < behind) each = ::fcntl(each, F_DUPFD, behind);
  }
  bool placed = true;
  for (std::size_t index = 0; index < start.descriptors.size(); ++index) {
    placed =
        placed && ::dup2(start.descriptors[index], first_descriptor + static_cast<int>(index)) >= 0;
  }
  if (placed) {
    // Closes descriptors of libraries without O_CLOEXEC, too. A failure is ignored: the kernel may
    // be old.
    (void)::close_range(static_cast<unsigned>(behind), ~0U, CLOSE_RANGE_CLOEXEC);
    write_number(start.process_number, ::getpid());
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(start.program, start.arguments, start.environment);
  }
  start.failure = errno;
  ::_exit(127);
}

// Not inlined: changes of the child to its parent's frame end before this returns.
[[gnu::noinline]] pid_t spawn(Start& start) {
  sigset_t all, before;
  sigfillset(&all);
  // A signal handler in the child would run in this process's memory.
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t process = ::vfork();
  if (process == 0) become(start);
  if (process < 0) start.failure = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return process;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

// A successor that has started and is not ready yet.
class Starting {
 public:
  Starting(pid_t process, int ready, std::size_t sockets)
      : process_(process), ready_(ready), sockets_(sockets) {}
  ~Starting() {
    ::close(ready_);
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Starting(const Starting&) = delete;

  Result<Replacement> wait(const ReplacementCommand& command, int cancel) {
    const Instant end = monotonic_now() + command.ready_timeout;
    for (;;) {
      const std::int64_t left_ms = (end - monotonic_now()).count_ms();
      if (left_ms < 0) {
        return fail(Code::deadline_exceeded,
                    fmt::format("'{}' was not ready within {} s, and was ended", command.program,
                                command.ready_timeout.count_ms() / 1000));
      }
      std::array waited = {pollfd{ready_, POLLIN, 0}, pollfd{cancel, POLLIN, 0}};
      if (::poll(waited.data(), waited.size(), static_cast<int>(left_ms) + 1) < 0) continue;
      if (waited[1].revents != 0) return fail(Code::cancelled, "this program is told to end");
      if (waited[0].revents == 0) continue;
      std::array<char, 512> some;
      const ssize_t count = ::recv(ready_, some.data(), some.size(), MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) return fail(Code::unavailable, ended(command));
      line_.append(some.data(), static_cast<std::size_t>(count));
      if (line_.ends_with('\n')) return take();
    }
  }

 private:
  // No process has the other end any more: the successor has ended, or is about to.
  std::string ended(const ReplacementCommand& command) {
    for (int tries = 0; tries < 200; ++tries) {
      int status = 0;
      if (::waitpid(process_, &status, WNOHANG) == process_) {
        process_ = 0;
        return fmt::format("'{}' {} before it was ready", command.program, describe_end(status));
      }
      ::poll(nullptr, 0, 10);
    }
    return fmt::format(
        "'{}' runs, but takes no listeners over: it is no program of this kind, or "
        "its restarts are not enabled",
        command.program);
  }
  Result<Replacement> take() {
    constexpr std::string_view word = "ready ";
    Replacement replacement{process_, std::vector<bool>(sockets_)};
    if (!line_.starts_with(word) || line_.size() != word.size() + sockets_ + 1) {
      return fail(Code::internal, fmt::format("the successor says '{}'", line_));
    }
    for (std::size_t index = 0; index < sockets_; ++index) {
      replacement.taken[index] = line_[word.size() + index] == '1';
    }
    process_ = 0;  // it lives on
    return replacement;
  }

  pid_t process_;
  const int ready_;
  const std::size_t sockets_;
  std::string line_;
};

}  // namespace

Result<ReplacementCommand> command_of_this_process(const std::string& program) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ReplacementCommand command;
  for (std::size_t at = 0; at < text.size();) {
    command.arguments.emplace_back(text.c_str() + at);
    at += command.arguments.back().size() + 1;
  }
  if (command.arguments.empty()) {
    return fail(Code::unavailable, "restart: /proc/self/cmdline cannot be read");
  }
  std::error_code failure;
  command.program = program.empty() ? path_of_this_program(command.arguments.front())
                                    : fs::absolute(program, failure).string();
  return command;
}

Result<Replacement> start_replacement(const ReplacementCommand& command,
                                      std::span<const HandedSocket> sockets, int cancel) {
  std::array<int, 2> ready{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ready.data()) != 0) {
    return fail(Code::resource_exhausted,
                fmt::format("a socket for a successor: {}", reason_of(errno)));
  }
  Texts arguments;
  for (const std::string& each : command.arguments) arguments.add(each);
  Texts environment = environment_for(sockets);
  std::vector<int> descriptors;
  for (const HandedSocket& each : sockets) descriptors.push_back(each.socket);
  descriptors.push_back(ready[1]);
  Start start{.program = command.program.c_str(),
              .arguments = arguments.pointers(),
              .environment = environment.pointers(),
              .process_number = environment.last() + process_variable.size(),
              .descriptors = descriptors};
  const pid_t process = spawn(start);
  ::close(ready[1]);
  Starting starting(process, ready[0], sockets.size());
  if (start.failure != 0) {
    return fail(Code::unavailable,
                fmt::format("cannot run '{}': {}", command.program, reason_of(start.failure)));
  }
  return starting.wait(command, cancel);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
