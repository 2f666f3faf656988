// TextLayout: a line for people.
//
//   2026-01-31T23:59:59.123456Z info  http: request done status=200 path="/a b"
//
// Fields are name=value. A value stands in quotes, escaped, when it is empty or has a space, `=`,
// `"`, `\` or an unprintable character. No logged value can end the line (escape.hpp).
//
// Thread, Allocates, Fails: layout.hpp.
#pragma once

#include "katana/observe/log/layout.hpp"
#include "katana/observe/log/wall_clock.hpp"

namespace katana::log {

class TextLayout final : public Layout {
 public:
  explicit TextLayout(bool coloured) noexcept : coloured_(coloured) {}
  void add(const Entry& entry, Buffer& out) override;

 private:
  void append_fields(const Entry& entry, Buffer& out);
  // Returns the number of consumed values.
  std::size_t append_field(std::span<const Value> values, Buffer& out);
  void append_level(Level level, Buffer& out) const;

  const bool coloured_;
  TimeText time_;
  Buffer scratch_;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
