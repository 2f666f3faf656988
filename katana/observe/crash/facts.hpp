// Facts that other modules add to a crash report: sections, and lines about each thread.
//
// Owns       nothing.
// Borrows    sections, from add_section() until remove_section().
// Thread     any.
// Allocates  never.
// Fails      never: sections after sections_max are left out, and so is text without room.
// Invariant  a text consists of whole lines, and no value in it ends a line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::crash {

class ReportWriter;

// Facts of a module for the report.
class Section {
 public:
  // Called in the signal handler, on the thread that crashed: nothing but reads of memory.
  virtual void write(ReportWriter& report) noexcept = 0;

 protected:
  ~Section() = default;
};
inline constexpr std::size_t sections_max = 256;  // later ones are left out
// Adds a section to the report. It must outlive remove_section().
void add_section(Section& section) noexcept;
// Does nothing if the section was not added.
void remove_section(Section& section) noexcept;

// Text about one thread, written by that thread.
class ThreadText {
 public:
  constexpr ThreadText() noexcept = default;

  void add(Bytes text) noexcept;                 // control characters become '?'
  void add_number(std::int64_t value) noexcept;  // in decimal; below 0: 0
  void end_line() noexcept;                      // without it the last line is left out
  // Whole lines.
  Bytes text() const noexcept { return {bytes_.data(), whole_}; }
  void clear() noexcept { used_ = whole_ = 0; }

 private:
  std::array<char, 8192> bytes_{};
  std::size_t used_ = 0;
  std::size_t whole_ = 0;  // of them in whole lines
};

// Sets the function that writes whole lines about the thread that calls it, such as its requests in
// flight. It is called in a signal handler. One for the process; null: none.
using ThreadFacts = void (*)(ThreadText& text) noexcept;
void set_thread_facts(ThreadFacts facts) noexcept;  // see above; a later call replaces the function

// For the handler of the crash.
ThreadFacts thread_facts() noexcept;
void write_sections(ReportWriter& report) noexcept;

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
