// ReportWriter: writes the lines of a crash report from a signal handler.
//
// Each line is a word and its values, as report.hpp describes. Values that others chose, such as
// names of threads and log records, cannot end a line: control characters become '?'.
//
// Owns       a buffer, as a member.
// Borrows    the descriptor.
// Thread     one. Safe in a signal handler: system calls alone, and no lock.
// Allocates  never.
// Fails      never: after a failed write, and behind the limit of allow(), lines are left out.
// Invariant  lines are written whole or not at all, and no more bytes than were allowed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::crash {

inline constexpr std::size_t line_bytes_max = 2048;  // with the line end

class ReportWriter {
 public:
  constexpr ReportWriter() noexcept = default;

  // Before anything else. Nothing is allowed yet.
  void begin(int descriptor) noexcept;
  // The lines from here to the next call have at most so many bytes; the rest is left out.
  void allow(std::size_t bytes) noexcept { left_ = bytes; }

  // These add to the present line, of which line_bytes_max bytes are kept.
  void word(Bytes text) noexcept;  // as it is; a line end in it ends the line
  void value(Bytes text, std::size_t bytes_max = 256) noexcept;  // printable, and cut
  void number(std::int64_t value) noexcept;                      // in decimal
  void hex(std::uint64_t value, int digits_min = 1) noexcept;    // without 0x
  void hex_bytes(Bytes bytes) noexcept;                          // two digits for each
  void end_line() noexcept;                                      // writes the line, if allowed
  void drop_line() noexcept { line_used_ = 0; }  // after a fault in the middle of it

  // " name=" and the value, which has no spaces.
  void field(Bytes name, std::int64_t value) noexcept;
  // Gives the system what is buffered.
  void flush() noexcept;

 private:
  void put(char character) noexcept;

  std::array<char, line_bytes_max> line_{};
  std::size_t line_used_ = 0;
  std::array<char, 2 * line_bytes_max> buffer_{};
  std::size_t used_ = 0;
  std::size_t left_ = 0;
  int descriptor_ = -1;
};

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
