// System calls: the calls that this process may make (seccomp(2)), by its configuration.
//
//   const sandbox::CallRules rules{.io_uring = true, .connections = true};
//   sandbox::allow_system_calls(rules);     // before the program opens anything
//   …
//   sandbox::refuse_starting_calls(rules);  // once it serves
//
// The first function allows a list of calls. The second refuses those that only a start needs: a
// new ring of io_uring, listening, becoming another user, further rules, and executable memory.
// Therefore no library is loaded any more. These filters do not see the work of a ring of
// io_uring: net/engine/uring restricts its rings to the operations that it submits.
//
// Owns       nothing; the kernel has the filters, and they are never taken back.
// Thread     all threads of the process are put under the filter, whichever calls.
// Allocates  yes.
// Fails      unsupported: a kernel without seccomp filters, or an architecture not known here.
// Invariant  a call that is not known here is refused. Memory that can be written is not executed.
//            Once the program serves, no further memory or file becomes executable, whether the
//            file has a name or not. `libraries` and `subprocesses` lift this rule. Only sockets
//            that exist already send datagrams to a Unix socket.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/system/result.hpp"

namespace katana::sandbox {

// The treatment of a call that is not allowed.
enum class Refusal : std::uint8_t {
  error,   // the call fails with EPERM, and is counted, but for processes: see refused_calls.hpp
  end,     // the process is killed by SIGSYS
  report,  // the call is made, and recorded in the kernel's audit log
};

// The acts of a program beyond files, memory, threads and its listeners.
struct CallRules {
  bool io_uring = false;      // rings, made while it starts
  bool connections = false;   // connect(2), and sockets of IP, also once the program has started
  bool subprocesses = false;  // fork(2), execve(2) and waiting for them
  bool libraries = false;     // dlopen(3), also once the program has started
  bool timers = false;        // timer_create(2), which profiles need
  Refusal refusal = Refusal::error;  // of everything else
};

// The number of calls that are allowed whatever their arguments, and for some arguments.
struct CallCounts {
  std::size_t allowed = 0;  // whatever the arguments
  std::size_t some = 0;     // for some of them
};

// Sets the filter of the start. All but the calls of refuse_starting_calls() stay allowed for as
// long as the program runs.
Result<CallCounts> allow_system_calls(const CallRules& rules);
// Refuses the calls that only a start needs. Called once the program serves.
Result<void> refuse_starting_calls(const CallRules& rules);

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
