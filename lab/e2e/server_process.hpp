// ServerProcess: a server in a process of its own, watched from here.
//
// Owns       the process, which is ended by SIGTERM, then SIGKILL, when this is destroyed.
// Thread     one.
// Allocates  freely.
// Fails      start() says what the server said instead of being ready.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/result.hpp"
#include "lab/e2e/stack.hpp"

namespace e2e {

// What the process has used up to a moment.
struct Usage {
  double cpu_s = 0;
  double rss_mib = 0;
  double anonymous_mib = 0;         // of it: memory that is no file's
  std::uint64_t written_bytes = 0;  // to the disk
  std::size_t descriptors = 0;      // open
};

struct ServerCommand {
  std::vector<std::string> arguments;  // the program first
  std::string preload = {};            // LD_PRELOAD
};

class ServerProcess {
 public:
  static katana::Result<std::unique_ptr<ServerProcess>> start(const ServerCommand& command);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  pid_t pid() const noexcept { return pid_; }
  // From fork() to the ready line.
  double ready_ms() const noexcept { return ready_ms_; }
  // As the server told them.
  const std::vector<Phase>& phases() const noexcept { return phases_; }
  Usage usage() const;

 private:
  ServerProcess() = default;
  katana::Result<void> wait_until_ready(int output);

  pid_t pid_ = -1;
  clockid_t clock_{};
  std::uint16_t port_ = 0;
  double ready_ms_ = 0;
  std::vector<Phase> phases_;
};

// This program, serving.
ServerCommand serving(const StackOptions& options);

// Another program of this build; empty: it has not been built.
std::string sibling(const std::string& name);

}  // namespace e2e
