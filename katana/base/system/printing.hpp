// print_without_waiting(), print_soon(): print lines to standard error and standard output without
// blocking the program. An unread pipe, a stopped terminal (Ctrl-S) and a collector that hangs
// accept no bytes, and write() would wait for them for ever.
//
// The descriptor keeps its flags: O_NONBLOCK would apply to the parent and to every other process
// with the same open file.
//
// Owns       nothing.
// Thread     any; print_without_waiting() also in a signal handler.
// Allocates  print_soon() where it needs a thread; otherwise neither.
// Fails      print_without_waiting() returns the number of written bytes. A closed reader raises no
//            SIGPIPE if the kernel reported the close before.
#pragma once

#include <cstddef>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana {

// Writes `text` and returns the number of written bytes: all, or as many as the descriptor accepts
// within `wait_max`. A regular file accepts everything.
std::size_t print_without_waiting(int descriptor, Bytes text, Duration wait_max = {}) noexcept;

// Writes `text` without blocking. A separate thread writes the rest as soon as the descriptor
// accepts it. Use it for a line that its reader waits for.
void print_soon(int descriptor, std::string text) noexcept;

// The longest wait for the last line of a process.
inline constexpr Duration last_words_max = milliseconds(200);

// Writes a line to standard error, and adds the line end.
void print_error_line(Bytes line, Duration wait_max = {}) noexcept;

// True if both descriptors lead to the same file, pipe, socket or terminal. A line that is written
// to both would then appear twice.
bool same_output(int first, int second) noexcept;

// Opens /dev/null where standard input, output or error is closed. Otherwise the next file or
// socket would take its number, and messages would be printed to it. Call it before any open().
void keep_standard_descriptors() noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
