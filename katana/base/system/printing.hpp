// print_without_waiting(), print_soon(): lines for standard error and standard output that never
// stop the program. A pipe that is not read, a terminal that was stopped (Ctrl-S) and a collector
// that hangs take nothing, and write() would wait for them for ever.
//
// The descriptor keeps its flags: O_NONBLOCK would be set for the parent and every other process
// that has the same open file.
//
// Owns       nothing.
// Thread     any; print_without_waiting() also in a signal handler.
// Allocates  print_soon() where it needs a thread, else neither.
// Fails      print_without_waiting() says how much was taken. A reader that is gone raises no
//            SIGPIPE where the kernel has told so before.
#pragma once

#include <cstddef>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana {

// How many bytes of `text` the descriptor took: all of it, or as much as it had room for within
// `wait_max`. A regular file takes everything.
std::size_t print_without_waiting(int descriptor, Bytes text, Duration wait_max = {}) noexcept;

// The same, and what was not taken is written by its own thread, once it is: for a line that
// its reader waits for.
void print_soon(int descriptor, std::string text) noexcept;

// What the last line of a process is worth waiting for.
inline constexpr Duration last_words_max = milliseconds(200);

// A line for standard error; its end is added.
void print_error_line(Bytes line, Duration wait_max = {}) noexcept;

// Whether both descriptors lead to the same file, pipe, socket or terminal, so that a line that is
// written to both stands there twice.
bool same_output(int first, int second) noexcept;

// Opens /dev/null where standard input, output or error is closed, so that the next file or socket
// does not become what messages are printed to. Before anything is opened.
void keep_standard_descriptors() noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
