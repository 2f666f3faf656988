#include "lab/process/server_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

namespace katana::lab {
namespace {

namespace fs = std::filesystem;

constexpr Duration end_timeout = seconds(10);

double ms_since(Instant begin) { return static_cast<double>((monotonic_now() - begin).ns) / 1e6; }

// Only what may be called between fork() and exec().
[[noreturn]] void become(const ServerCommand& command, const std::vector<char*>& arguments,
                         int output, int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive a benchmark that was killed
  if (command.cpus) ::sched_setaffinity(0, sizeof *command.cpus, &*command.cpus);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  if (!command.preload.empty()) ::setenv("LD_PRELOAD", command.preload.c_str(), 1);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

// The number behind the last ':' before " (engine".
std::uint16_t port_of(std::string_view line) {
  const std::size_t end = line.find(" (engine");
  const std::size_t colon = line.rfind(':', end);
  std::uint16_t port = 0;
  if (end != std::string_view::npos && colon != std::string_view::npos) {
    std::from_chars(line.data() + colon + 1, line.data() + end, port);
  }
  return port;
}

// The last line that a server printed on its standard error.
std::string last_line(int errors) {
  std::string tail(4096, '\0');
  const off_t size = ::lseek(errors, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(tail.size()));
  tail.resize(static_cast<std::size_t>(
      std::max<ssize_t>(0, ::pread(errors, tail.data(), tail.size(), begin))));
  while (tail.ends_with('\n')) tail.pop_back();
  if (tail.empty()) return "nothing on its standard error";
  return tail.substr(tail.rfind('\n') + 1);
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Sockets that listen on the port, as "socket:[inode]".
std::set<std::string> listeners(std::uint16_t port) {
  std::set<std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
      fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >>
          timeout >> inode;
      constexpr std::string_view listen_state = "0A";
      if (state == listen_state && local.ends_with(fmt::format(":{:04X}", port))) {
        found.insert(fmt::format("socket:[{}]", inode));
      }
    }
  }
  return found;
}

bool holds_one_of(const std::string& process, const std::set<std::string>& sockets) {
  const std::string folder = fmt::format("/proc/{}/fd/", process);
  return std::ranges::any_of(names_in(folder), [&](const std::string& descriptor) {
    std::error_code ignored;  // it may have been closed by now
    return sockets.contains(fs::read_symlink(folder + descriptor, ignored).string());
  });
}

}  // namespace

Result<ServerProcess> ServerProcess::start(const ServerCommand& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Code::resource_exhausted, "no pipe");
  const int errors = ::memfd_create("standard error of a server", MFD_CLOEXEC);
  std::vector<std::string> texts = command.arguments;
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  const Instant begin = monotonic_now();
  const pid_t pid = ::fork();
  if (pid == 0) become(command, arguments, ends[1], errors);
  ::close(ends[1]);
  ServerProcess server;
  Result<void> ready = fail(Code::resource_exhausted, "no process");
  if (pid > 0) {
    server.pids_.push_back(pid);
    server.is_started_ = true;
    ready = server.wait_until_ready(ends[0], command.ready_timeout);
  }
  server.ready_ms_ = ms_since(begin);
  const std::string last_words = ready ? "" : last_line(errors);
  ::close(ends[0]);
  ::close(errors);
  if (!ready) {
    return std::unexpected(
        ready.error().within(fmt::format("start {} ({})", texts[0], last_words)));
  }
  return server;
}

Result<void> ServerProcess::wait_until_ready(int output, Duration timeout) {
  const Instant begin = monotonic_now();
  while (true) {
    pollfd waited{output, POLLIN, 0};
    const int left_ms = static_cast<int>(static_cast<double>(timeout.ns) / 1e6 - ms_since(begin));
    char piece[4096];
    ssize_t got = 0;
    if (left_ms > 0 && ::poll(&waited, 1, left_ms) > 0) got = ::read(output, piece, sizeof piece);
    if (got <= 0) return fail(Code::unavailable, "it is not ready; it printed: " + ready_output_);
    ready_output_.append(piece, static_cast<std::size_t>(got));
    const std::size_t ready = ready_output_.find(": listening on ");
    if (ready == std::string::npos || ready_output_.find('\n', ready) == std::string::npos) {
      continue;
    }
    port_ = port_of(std::string_view(ready_output_).substr(ready));
    if (port_ != 0) return {};
    return fail(Code::internal, "its ready line has no port: " + ready_output_);
  }
}

ServerProcess ServerProcess::listening_on(std::uint16_t port) {
  ServerProcess server;
  server.port_ = port;
  const auto sockets = listeners(port);
  if (sockets.empty()) return server;
  for (const std::string& name : names_in("/proc")) {
    pid_t pid = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (read.ptr != name.data() + name.size() || pid == ::getpid()) continue;
    if (holds_one_of(name, sockets)) server.pids_.push_back(pid);
  }
  return server;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept { *this = std::move(other); }

ServerProcess& ServerProcess::operator=(ServerProcess&& other) noexcept {
  std::swap(pids_, other.pids_);
  std::swap(is_started_, other.is_started_);
  std::swap(port_, other.port_);
  std::swap(ready_ms_, other.ready_ms_);
  std::swap(ready_output_, other.ready_output_);
  return *this;
}

ServerProcess::~ServerProcess() {
  if (is_started_) end();
}

void ServerProcess::end() noexcept {
  ::kill(pid(), SIGTERM);
  const Instant begin = monotonic_now();
  while (::waitpid(pid(), nullptr, WNOHANG) == 0) {
    if (monotonic_now() - begin > end_timeout) {
      ::kill(pid(), SIGKILL);
      ::waitpid(pid(), nullptr, 0);
      return;
    }
    ::usleep(2000);
  }
}

std::string ServerProcess::name() const {
  if (pids_.empty()) return "unknown";
  std::error_code unreadable;  // a process of another user
  const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", pid()), unreadable);
  const std::string name =
      unreadable ? first_line(fmt::format("/proc/{}/comm", pid())) : program.filename().string();
  return fmt::format("{} ({} {})", name, pids_.size(), pids_.size() == 1 ? "process" : "processes");
}

double ServerProcess::cpu_s() const noexcept {
  double sum = 0;
  for (const pid_t pid : pids_) sum += process_cpu_s(pid);
  return sum;
}

Usage ServerProcess::usage() const {
  Usage sum;
  for (const pid_t pid : pids_) sum.add(usage_of(pid));
  return sum;
}

std::string own_program() { return fs::read_symlink("/proc/self/exe"); }

std::string sibling_program(const std::string& name) {
  const fs::path path = fs::path(own_program()).parent_path() / name;
  return fs::exists(path) ? path.string() : std::string();
}

}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
