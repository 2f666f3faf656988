// say_last_words(): prints why the process is about to abort, and keeps the line for its crash
// report.
//
// Owns       one line of last_words_bytes_max bytes, for the whole process.
// Thread     any; last_words_of() also in a signal handler.
// Allocates  never.
// Fails      never: a longer line is cut for the report. Only the first line is kept: a second
//            thread that fails at the same time only prints its line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana {

// The bytes of a line that are kept.
inline constexpr std::size_t last_words_bytes_max = 1024;

// Writes the line to standard error, as print_error_line(line, last_words_max) does, and keeps it.
void say_last_words(Bytes line) noexcept;

// The kept line, if the thread with this id (gettid(2)) said it; otherwise empty. It is valid as
// long as the process.
Bytes last_words_of(std::int32_t thread_id) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
