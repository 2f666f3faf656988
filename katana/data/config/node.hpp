// Node: a value of the configuration before it has a type, and where it came from.
//
// Owns       its text and children.
// Thread     a value.
// Allocates  freely.
// Fails      never.
// Invariant  of a map `keys` and `items` have the same size, and no key stands twice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::config {

// Where a value came from. Files and names are shared by all the nodes that came from there.
struct Origin {
  // The default, or one of the places of sources.hpp. `flag` is a flag other than --set.
  enum class Kind : std::uint8_t { defaulted, file, environment, set, flag };

  Kind kind = Kind::defaulted;  // which of the members below count
  int line = 0;                 // of a file, from 1
  // Of the file, the variable, the key that --set names, or the flag that stands for a key.
  std::shared_ptr<const std::string> name;

  // "katana.yaml:12", "environment KATANA_PORT", "--set http.port", "--port" or "default"
  std::string describe() const;
};

struct Node {
  // nothing: null, or absent.
  enum class Kind : std::uint8_t { nothing, text, list, map };

  Kind kind = Kind::nothing;      // which of the members below count
  bool quoted = false;            // in a file: such text is never a number
  std::string text;               // of Kind::text, without quotes
  std::vector<Node> items;        // of Kind::list and Kind::map
  std::vector<std::string> keys;  // of Kind::map; keys[i] is the name of items[i]
  Origin origin;                  // for messages
  int key_line = 0;               // in a file: the line of the key that it is the value of

  // Where its key stands, or itself.
  Origin key_origin() const;
  // The value of a key of a map; null if it is not there.
  Node* find(Bytes key) noexcept;
  const Node* find(Bytes key) const noexcept { return const_cast<Node*>(this)->find(key); }
  // "text", "a list", as messages call it.
  Bytes kind_name() const noexcept;
};

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
