// Launcher: a process that starts successors for a program which may start none itself, because it
// has entered a sandbox or is another user by then. It is made before that, and does nothing else:
// what it starts, with which arguments and variables, is settled when it is made.
//
// Owns       the socket to the process, which ends when this is destroyed, or its owner ends. The
//            process is no child of its owner.
// Thread     make() before there is another; start_replacement() one at a time, any.
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
  // For a process without other threads. The program that it starts is fixed here.
  static Result<std::unique_ptr<Launcher>> make(server::ReplacementCommand command);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // As server::start_replacement(), by the launcher. Blocks.
  Result<server::Replacement> start_replacement(std::span<const server::HandedSocket> sockets,
                                                int cancel);

 private:
  explicit Launcher(int socket) noexcept : socket_(socket) {}

  int socket_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
