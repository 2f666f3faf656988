// The names of crash reports, and the words with which each begins and ends.
//
//   notes-crash-20261129T070512Z-4711.txt      program, time of the crash (UTC), process
//
// Thread     any; safe in a signal handler.
// Allocates  never, but parse_report_name() never either.
// Invariant  names of one program sort by time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "katana/base/text/bytes.hpp"

namespace katana::crash {

inline constexpr Bytes report_begin = "katana-crash-report 1";  // the first line, with the version
inline constexpr Bytes report_end = "end";                      // the last line

// A text that ends with a zero byte.
struct NameText {
  std::array<char, 128> bytes{};  // the byte behind the text is 0
  std::size_t used = 0;           // bytes of the text

  // These leave out what has no room.
  void add(char character) noexcept {
    if (used + 1 < bytes.size()) bytes[used++] = character;
  }
  // Likewise, character by character.
  void add(Bytes text) noexcept {
    for (const char each : text) add(each);
  }
  // In decimal, with zeros in front up to digits_min.
  void add_number(std::uint64_t value, int digits_min = 1) noexcept;
  // Valid as long as this object.
  Bytes text() const noexcept { return {bytes.data(), used}; }
};

NameText time_text(std::time_t time) noexcept;  // "2026-11-29T07:05:12Z"
// The name of a file, with '_' for characters of the program's name that are none for files.
NameText report_name(Bytes program, std::time_t time, std::int64_t process) noexcept;
// Whether it is the name of a report of this program.
bool is_report_name(Bytes name, Bytes program) noexcept;

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
