#include "katana/data/config/node.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::config {

std::string Origin::describe() const {
  switch (kind) {
    case Kind::defaulted: return "default";
    case Kind::file: return line > 0 ? fmt::format("{}:{}", *name, line) : *name;
    case Kind::environment: return "environment " + *name;
    case Kind::set: return "--set " + *name;
    case Kind::flag: return *name;
  }
  return "";
}

Origin Node::key_origin() const {
  Origin place = origin;
  if (place.kind == Origin::Kind::file && key_line > 0) place.line = key_line;
  return place;
}

Node* Node::find(Bytes key) noexcept {
  const auto at = std::ranges::find(keys, key);
  return at == keys.end() ? nullptr : &items[static_cast<std::size_t>(at - keys.begin())];
}

Bytes Node::kind_name() const noexcept {
  switch (kind) {
    case Kind::nothing: return "nothing";
    case Kind::text: return "text";
    case Kind::list: return "a list";
    case Kind::map: return "a group of keys";
  }
  return "";
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
