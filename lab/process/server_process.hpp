// ServerProcess: a server that this program watches: one that it started, or the one that listens
// on a port.
//
// Owns       the process that start() made, which is ended by SIGTERM, then SIGKILL, when this is
//            destroyed. A process that listening_on() found is left alone.
// Thread     one.
// Allocates  freely.
// Fails      start() tells the last line on standard error of a server that did not get ready. A
//            server elsewhere, or one of another user, is unknown: is_known() is false.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "lab/process/usage.hpp"

namespace katana::lab {

struct ServerCommand {
  std::vector<std::string> arguments;    // the program first
  std::optional<cpu_set_t> cpus = {};    // CPUs that it may use; by default those of this thread
  std::string preload = {};              // LD_PRELOAD
  Duration ready_timeout = seconds(30);  // until its ready line
};

class ServerProcess {
 public:
  // Returns once the server has printed "PROGRAM: listening on URL (engine …".
  static Result<ServerProcess> start(const ServerCommand& command);
  // Every process on this machine, but this one, that listens on the TCP port.
  static ServerProcess listening_on(std::uint16_t port);

  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&& other) noexcept;
  ~ServerProcess();

  bool is_known() const noexcept { return !pids_.empty(); }
  std::uint16_t port() const noexcept { return port_; }
  // REQUIRES: is_known().
  pid_t pid() const noexcept { return pids_.front(); }
  // "nginx (3 processes)".
  std::string name() const;
  // The CPU seconds of all its processes.
  double cpu_s() const noexcept;
  Usage usage() const;

  // For a server that was started: the time from fork() to the ready line, and its output up to
  // there.
  double ready_ms() const noexcept { return ready_ms_; }
  const std::string& ready_output() const noexcept { return ready_output_; }

 private:
  ServerProcess() = default;
  Result<void> wait_until_ready(int output, Duration timeout);
  void end() noexcept;

  std::vector<pid_t> pids_;
  bool is_started_ = false;
  std::uint16_t port_ = 0;
  double ready_ms_ = 0;
  std::string ready_output_;
};

// The path of this program, and of another one of this build; empty: it has not been built.
std::string own_program();
std::string sibling_program(const std::string& name);

}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
