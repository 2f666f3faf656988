// System calls: which of them this process may make (seccomp(2)), by what it is configured to do.
//
//   const sandbox::CallRules rules{.io_uring = true, .connections = true};
//   sandbox::allow_system_calls(rules);     // before the program opens anything
//   …
//   sandbox::refuse_starting_calls(rules);  // once it serves
//
// The first call is a list of what is allowed; the second takes away what only a start needs: a new
// ring of io_uring, listening, becoming another user, further rules, and memory that is executed,
// so that no library is loaded any more. These filters do not see the work of a ring of
// io_uring: net/engine/uring restricts its rings to what it submits.
//
// Owns       nothing; the kernel has the filters, and they are never taken back.
// Thread     all threads of the process are put under the filter, whichever calls.
// Allocates  yes.
// Fails      unsupported: a kernel without seccomp filters, or an architecture not known here.
// Invariant  a call that is not known here is refused. Memory that can be written is not executed,
//            and once the program serves nothing that was not executed before: not a file, whether
//            it has a name or not, either (unless `libraries` or `subprocesses` says so). No
//            datagram goes to a Unix socket but by a socket that is there already.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/system/result.hpp"

namespace katana::sandbox {

// What becomes of a call that is not allowed.
enum class Refusal : std::uint8_t {
  error,   // the call fails with EPERM, and is counted, but for processes: see refused_calls.hpp
  end,     // the process is killed by SIGSYS
  report,  // the call is made, and the kernel's audit log says so
};

// What a program does beyond files, memory, threads and its listeners.
struct CallRules {
  bool io_uring = false;      // rings, made while it starts
  bool connections = false;   // connect(2), and sockets of IP, also once the program has started
  bool subprocesses = false;  // fork(2), execve(2) and waiting for them
  bool libraries = false;     // dlopen(3), also once the program has started
  Refusal refusal = Refusal::error;  // of everything else
};

// How many calls are allowed by name, whatever their arguments, and how many for some arguments.
struct CallCounts {
  std::size_t allowed = 0;  // whatever the arguments
  std::size_t some = 0;     // for some of them
};

// While the program starts, and but for refuse_starting_calls() for as long as it runs.
Result<CallCounts> allow_system_calls(const CallRules& rules);
// Once the program serves.
Result<void> refuse_starting_calls(const CallRules& rules);

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
