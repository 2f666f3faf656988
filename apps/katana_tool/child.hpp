// Child: a process that was started, in a separate group, and is ended with its owner.
//
// Owns       the process group.
// Thread     one.
// Allocates  the arguments of the process.
// Fails      start() with the program's name and the system's reason.
// Invariant  at the latest when this is destroyed the group is gone.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::tool {

class Child {
 public:
  // `listener`: becomes descriptor 3, announced by LISTEN_FDS and LISTEN_PID; below 0: none.
  // `notify_socket`: for NOTIFY_SOCKET (sd_notify(3)); empty: as it is.
  static Result<Child> start(const std::vector<std::string>& command, int listener = -1,
                             const std::string& notify_socket = {});
  ~Child() { end(Duration{}); }
  Child(Child&& other) noexcept
      : process_(std::exchange(other.process_, 0)),
        group_(std::exchange(other.group_, 0)),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  Child& operator=(Child&&) = delete;

  // Readable when it has ended.
  int descriptor() const noexcept { return descriptor_; }
  void signal(int number) noexcept;
  // Another process of the group is the program from now on; the one before ends on its own.
  void replace(pid_t process) noexcept;
  // After it has ended: "exit status 1", "signal 11 (Segmentation fault)"; empty: exit status 0.
  std::string reap();
  // SIGTERM to the group, and SIGKILL after `patience`.
  void end(Duration patience) noexcept;

 private:
  explicit Child(pid_t process) noexcept;
  void close_descriptor() noexcept;
  void kill_group() noexcept;

  pid_t process_ = 0;  // 0: it has ended
  pid_t group_ = 0;    // the id of the first process
  int descriptor_ = -1;
};

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
