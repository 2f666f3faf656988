// Program: a server that a test starts, and ends, kills or stops as it likes.
//
// Owns       the process, which ends with it, or with the test that dies, and its folder under
//            /tmp.
// Thread     the test's.
// Fails      throws std::runtime_error with the end of the program's output.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace katana {

// A port of this machine on which no socket listens. The kernel gives higher ones to connections.
// Therefore no other test takes it before the server listens, or while the server is down. Each
// process begins at another place.
inline std::uint16_t find_free_port() {
  constexpr int first = 5000, count = 5000, of_process = 16;
  static std::atomic<int> next = ::getpid() % count * of_process;
  for (int looks = 0; looks < count; ++looks) {
    const auto port = static_cast<std::uint16_t>(first + next++ % count);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const bool is_free = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    if (is_free) return port;
  }
  throw std::runtime_error("no port is free");
}

class Program {
 public:
  explicit Program(const std::string& name) : folder_("/tmp/katana-" + name + "-XXXXXX") {
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~Program() {
    end(SIGKILL);
    std::error_code ignored;  // leftovers are in the folder for temporary files
    std::filesystem::remove_all(folder_, ignored);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string& folder() const noexcept { return folder_; }
  bool runs() const noexcept { return process_ > 0; }

  void start(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const std::string log = folder_ + "/log";
    process_ = ::fork();
    if (process_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // No more than system calls: other threads of the test may hold any lock.
    const int input = ::open("/dev/null", O_RDONLY);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) ::_exit(126);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  // Waits until a process accepts connections on that port of this machine.
  void await_port(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    for (int looks = 0; looks < 5000; ++looks) {
      const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const int answer =
          ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
      ::close(socket);
      if (answer == 0) return;
      int status = 0;
      if (::waitpid(process_, &status, WNOHANG) == process_) {
        process_ = 0;
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    throw std::runtime_error("nobody listens on port " + std::to_string(port) + ": " + log());
  }
  void signal(int number) const {
    if (process_ > 0) ::kill(process_, number);
  }
  // And waits for its end.
  void end(int number) {
    if (process_ <= 0) return;
    ::kill(process_, number);
    ::kill(process_, SIGCONT);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
  }
  std::string log() const {
    std::ifstream file(folder_ + "/log");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.size() > 2000 ? text.substr(text.size() - 2000) : text;
  }

 private:
  std::string folder_;
  pid_t process_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
