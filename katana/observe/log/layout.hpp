// Layout: how entries become bytes of a sink. Text for people, JSON lines and binary for programs.
//
// Owns       scratch memory.
// Thread     one at a time.
// Allocates  only when the buffer or its scratch memory grows, and for a call site it has not met.
// Fails      never.
// Invariant  what add() writes is whole: a line, or a frame. A file begins with begin().
#pragma once

#include <memory>

#include "katana/observe/log/entry.hpp"
#include "katana/observe/log/plan.hpp"

namespace katana::log {

// text: for people. coloured_text: for terminals. json: one object a line. binary:
// binary_format.hpp.
enum class LayoutKind : std::uint8_t { text, coloured_text, json, binary };

class Layout {
 public:
  virtual ~Layout() = default;
  // What a file begins with, and what makes it readable without those before it.
  virtual void begin(Buffer&) {}
  virtual void add(const Entry& entry, Buffer& out) = 0;
  // How much of a file that this layout wrote is whole: what is behind it is a record that a killed
  // process left half written. Everything, if the file is not of this layout's making.
  virtual std::size_t whole_bytes(Bytes file) const { return file.size(); }
  // What makes it safe to go on behind bytes that may not be whole.
  virtual Bytes separator(char last_octet) const { return last_octet == '\n' ? "" : "\n"; }
};

// Never null.
std::unique_ptr<Layout> make_layout(LayoutKind kind);

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
