// Child: a process that was started, in a group of its own, and is ended with its owner.
//
// Owns       the process group.
// Thread     one.
// Allocates  what is handed to it.
// Fails      start() with the program's name and the system's reason.
// Invariant  at the latest when this is destroyed the group is gone.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/instant.hpp"
#include "katana/base/result.hpp"

namespace katana::tool {

class Child {
 public:
  // `listener`: becomes descriptor 3, announced by LISTEN_FDS and LISTEN_PID; below 0: none.
  static Result<Child> start(const std::vector<std::string>& command, int listener = -1);
  ~Child() { end(Duration{}); }
  Child(Child&& other) noexcept
      : process_(std::exchange(other.process_, 0)),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  Child& operator=(Child&&) = delete;

  // Readable when it has ended.
  int descriptor() const noexcept { return descriptor_; }
  // After it has ended: "exit status 1", "signal 11 (Segmentation fault)"; empty: exit status 0.
  std::string reap();
  // SIGTERM to the group, and SIGKILL after `patience`.
  void end(Duration patience) noexcept;

 private:
  Child(pid_t process, int descriptor) noexcept : process_(process), descriptor_(descriptor) {}
  void close_descriptor() noexcept;

  pid_t process_ = 0;  // 0: it has ended
  int descriptor_ = -1;
};

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
