// BinaryLayout: captured records, for katana-log to format later (binary_format.hpp).
//
// Thread, Allocates, Fails: layout.hpp.
// Invariant  the output from a begin() on can be read without earlier output.
#pragma once

#include <unordered_map>
#include <vector>

#include "katana/observe/log/layout.hpp"

namespace katana::log {

class BinaryLayout final : public Layout {
 public:
  void begin(Buffer& out) override;
  void add(const Entry& entry, Buffer& out) override;
  std::size_t whole_bytes(Bytes file) const override;
  Bytes separator(char) const override { return {}; }

 private:
  void append_site(const Site& site, Buffer& out);
  void define_names(Bytes context, Buffer& out);
  void append_context(Bytes context, Buffer& out);

  std::vector<bool> known_sites_;  // by Site::id
  std::unordered_map<const char*, std::uint32_t> known_names_;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
