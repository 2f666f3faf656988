// Replacement: the program that replaces this one, started with its listening sockets; see
// inherited_listeners.hpp for how it gets them. Nothing changes for this one until the other says
// that it is ready.
//
// Owns       nothing: a successor that is ready lives on, and one that fails is gone.
// Thread     any; start_replacement() blocks until the successor is ready or has failed.
// Allocates  yes; not between fork and exec.
// Fails      with what became of it: no such program, its exit status or signal, not ready in time.
// Invariant  when start_replacement() returns an Error no successor runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::server {

// Whether and how a server is replaced by another process of its program.
struct RestartOptions {
  // SIGUSR2 starts a successor, and once that is ready this program ends. False: the signal is left
  // alone.
  bool enabled = false;
  std::string program = {};  // that succeeds this one; empty: the path by which this was started
  Duration ready_timeout = seconds(30);  // a successor that is not ready then is ended
  // For the program that ends: for so long a connection that is idle may still begin a request.
  Duration idle = seconds(2);
  // Over so long WebSockets are told to come back (1012). Less than drain_timeout.
  Duration spread = seconds(5);
};

// A program, with its arguments, which begin with its name.
struct ReplacementCommand {
  std::string program;                   // absolute path; what is there when it starts is run
  std::vector<std::string> arguments;    // argv[0] included
  Duration ready_timeout = seconds(30);  // then it is killed
};

// For this process: its arguments, and the path by which it was started, not the file that this led
// to: a new release is found behind it. `program`: a path in its place; empty: none.
Result<ReplacementCommand> command_of_this_process(const std::string& program);

// A listening socket on its way to another process.
struct HandedSocket {
  std::string name;  // see inherited_listeners.hpp
  int socket = -1;   // borrowed
};

// Another process of the program that serves from here on.
struct Replacement {
  int process_id = 0;       // of this machine
  std::vector<bool> taken;  // of the sockets that were handed: those that it accepts from
};

// `cancel`: a descriptor that becomes readable when the successor is not wanted any more; -1: none.
using StartReplacement =
    std::function<Result<Replacement>(std::span<const HandedSocket> sockets, int cancel)>;
// Starts it and waits until it is ready, which may take ReplacementCommand::ready_timeout.
Result<Replacement> start_replacement(const ReplacementCommand& command,
                                      std::span<const HandedSocket> sockets, int cancel);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
