// Launcher: a process that starts successors for a program. The program may start none itself,
// because it has entered a sandbox or become another user. The launcher is made before that, and
// does nothing else. Its command, arguments and variables are fixed when it is made.
//
// Owns       the socket to the process, which ends when this is destroyed, or its owner ends. The
//            process is no child of its owner.
// Thread     make() before there is another thread; start_replacement() any, one at a time.
// Allocates  yes.
// Fails      make() without a process or a socket; start_replacement() as that of
//            http/server/replacement.hpp, and when the launcher is gone.
// Invariant  the program hands it sockets and their names, and nothing else.
#pragma once

#include <memory>
#include <span>

#include "katana/base/system/result.hpp"
#include "katana/http/server/replacement.hpp"

namespace katana::app {

class Launcher {
 public:
  // REQUIRES a process without other threads. The program that it starts is fixed here.
  static Result<std::unique_ptr<Launcher>> make(server::ReplacementCommand command);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Does the same as server::start_replacement(), by the launcher. Blocks.
  Result<server::Replacement> start_replacement(std::span<const server::HandedSocket> sockets,
                                                int cancel);

 private:
  explicit Launcher(int socket) noexcept : socket_(socket) {}

  int socket_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
