// Replacement: the program that replaces this one, started with its listening sockets; see
// inherited_listeners.hpp for the way it gets them. Nothing changes for this program until the
// other reports that it is ready.
//
// Owns       nothing: a successor that is ready lives on, and one that fails has ended.
// Thread     any; start_replacement() blocks until the successor is ready or has failed.
// Allocates  strings and lists, but nothing between fork and exec.
// Fails      with the cause: no such program, its exit status or signal, not ready in time.
// Invariant  when start_replacement() returns an Error no successor runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::server {

// Options for the replacement of a server by another process of its program.
struct RestartOptions {
  // SIGUSR2 starts a successor, and once that is ready this program ends. False: the signal is not
  // handled.
  bool enabled = false;
  std::string program = {};  // the successor; empty: the path by which this program was started
  Duration ready_timeout = seconds(30);  // a successor that is not ready by then is killed
  // For the program that ends: the time in which an idle connection may still begin a request.
  Duration idle = seconds(2);
  // WebSocket clients are told over this time to reconnect (1012). Less than drain_timeout.
  Duration spread = seconds(5);
};

// A program and its arguments. The first argument is its name.
struct ReplacementCommand {
  std::string program;                   // absolute path; resolved when the program starts
  std::vector<std::string> arguments;    // argv[0] included
  Duration ready_timeout = seconds(30);  // then it is killed
};

// The command of this process: its arguments, and the path by which it was started. The path, not
// the file behind it, makes it find a new release. `program`: a path in its place; empty: none.
Result<ReplacementCommand> command_of_this_process(const std::string& program);

// A listening socket on its way to another process.
struct HandedSocket {
  std::string name;  // see inherited_listeners.hpp
  int socket = -1;   // borrowed
};

// Another process of the program that serves from now on.
struct Replacement {
  int process_id = 0;       // of this machine
  std::vector<bool> taken;  // for each handed socket: whether it accepts from it
};

// `cancel`: a descriptor that becomes readable when the successor is no longer wanted; -1: none.
using StartReplacement =
    std::function<Result<Replacement>(std::span<const HandedSocket> sockets, int cancel)>;
// Starts the program and waits until it is ready, at most ReplacementCommand::ready_timeout.
Result<Replacement> start_replacement(const ReplacementCommand& command,
                                      std::span<const HandedSocket> sockets, int cancel);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
