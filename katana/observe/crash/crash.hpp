// Crash reports: a signal handler writes a file with the facts that help to find the cause of a
// crash. The process then ends as it would have without the handler.
//
//   crash::install({.program = "notes", .version = "1.4.0", .folder = "var/log"});
//
// The causes are SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, and SIGSYS if no sandbox handles it.
// SIGABRT is abort(), a failed KATANA_CHECK or KATANA_REQUIRE, and std::terminate(), such as for a
// std::bad_alloc that nothing catches. report.hpp describes the file. It has no header, body, query
// or memory of the process. A process that the kernel kills (SIGKILL, the OOM killer) leaves none.
//
// Owns       static memory; a descriptor of the folder. Handlers stay for as long as the process.
// Thread     install() one, while no other calls it. The handler runs on the thread that crashed.
//            Other threads are asked for their stacks by a signal (stack_signal()), and go on.
// Allocates  install() only.
// Fails      install(): the folder cannot be opened, or a handler cannot be set.
// Invariant  the handler makes only calls that are safe in a signal handler, takes no lock, and
//            waits at most a few seconds. A fault inside of it ends the step that made it; what was
//            written stays. The handlers of before get the signal afterwards, such as those of
//            log::flush_on_crash() and of sanitizers.
#pragma once

#include <cstddef>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/observe/crash/facts.hpp"

namespace katana::crash {

// The program, for its reports, and their folder.
struct Options {
  std::string program;      // begins the names of its reports; at most 64 bytes
  std::string version;      // of the program; empty: not given
  std::string folder = {};  // which exists; empty: the report goes to standard error
};

// The most bytes of a report.
inline constexpr std::size_t report_bytes_max = 256 * 1024;

// Sets the handlers. A later call replaces the options.
Result<void> install(const Options& options);

// For a program that captures stacks without install(): a fault of guarded() ends its step only.
// All other faults go to the handlers of before. Does nothing after install().
void watch_faults() noexcept;

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
