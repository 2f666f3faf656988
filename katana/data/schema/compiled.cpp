#include "katana/data/schema/compiled.hpp"

#include <algorithm>

namespace katana::schema {

const Property* Node::find(Bytes name, std::size_t expected) const noexcept {
  if (expected < properties.size() && properties[expected].name == name) {
    return &properties[expected];
  }
  const auto found = std::ranges::lower_bound(
      by_name, name, {}, [&](std::uint32_t at) { return Bytes(properties[at].name); });
  if (found == by_name.end() || properties[*found].name != name) return nullptr;
  return &properties[*found];
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
