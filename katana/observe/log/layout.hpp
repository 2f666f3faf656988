// Layout: converts entries to the bytes of a sink. Text for people, JSON lines and binary for
// programs.
//
// Owns       scratch memory.
// Thread     one at a time.
// Allocates  only when the buffer or its scratch memory grows, and for a new call site.
// Fails      never.
// Invariant  add() writes whole units: a line, or a frame. A file begins with begin().
#pragma once

#include <memory>

#include "katana/observe/log/entry.hpp"
#include "katana/observe/log/plan.hpp"

namespace katana::log {

// The format of a sink.
//   text           lines for people
//   coloured_text  lines for terminals
//   json           one object a line
//   binary         see binary_format.hpp
enum class LayoutKind : std::uint8_t { text, coloured_text, json, binary };

class Layout {
 public:
  virtual ~Layout() = default;
  // Writes the beginning of a file, which makes it readable without earlier files.
  virtual void begin(Buffer&) {}
  virtual void add(const Entry& entry, Buffer& out) = 0;
  // The number of whole bytes of a file that this layout wrote. The rest is a record that a killed
  // process left half written. All bytes, if another layout wrote the file.
  virtual std::size_t whole_bytes(Bytes file) const { return file.size(); }
  // The bytes to write after others that may not be whole.
  virtual Bytes separator(char last_octet) const { return last_octet == '\n' ? "" : "\n"; }
};

// Never null.
std::unique_ptr<Layout> make_layout(LayoutKind kind);

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
