#include "fullstack/entity_tags.hpp"

namespace katana::fullstack {
namespace {

// A tag is opaque: a comma or a backslash in its quotes means nothing.
bool names(Bytes value, Bytes tag, bool weak_too) noexcept {
  while (!value.empty()) {
    const bool weak = value.starts_with("W/\"");
    if (weak) value.remove_prefix(2);
    if (!value.starts_with('"')) {
      value.remove_prefix(1);  // white space, a comma, or what is no tag
      continue;
    }
    const std::size_t end = value.find('"', 1);
    if (end == Bytes::npos) return false;
    if (value.substr(0, end + 1) == tag && (weak_too || !weak)) return true;
    value.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

bool if_match_holds(Bytes value, Bytes tag) noexcept {
  return value == "*" || names(value, tag, false);
}

bool if_none_match_names(Bytes value, Bytes tag) noexcept {
  return value == "*" || names(value, tag, true);
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
