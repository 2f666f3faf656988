// JsonLayout: one JSON object in each line (RFC 8259).
//
//   {"time":"…Z","level":"info","logger":"http","message":"request done","thread":7,"status":200}
//
// Fields follow as members, with their types: numbers, booleans, strings, objects. A field whose
// name is one of the first five gets a `_` behind it. Numbers that JSON does not have (nan, inf)
// are strings. Bytes that are not UTF-8 become U+FFFD.
//
// Thread, Allocates, Fails: layout.hpp.
#pragma once

#include "katana/observe/log/layout.hpp"
#include "katana/observe/log/wall_clock.hpp"

namespace katana::log {

class JsonLayout final : public Layout {
 public:
  void add(const Entry& entry, Buffer& out) override;
  std::size_t whole_bytes(Bytes file) const override;

 private:
  std::size_t append_value(std::span<const Value> values, Buffer& out);
  std::size_t append_object(std::span<const Value> values, Buffer& out);

  TimeText time_;
  Buffer scratch_;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
