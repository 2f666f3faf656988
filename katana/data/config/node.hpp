// Node: a value of the configuration before it has a type, with its origin.
//
// Owns       its text and children.
// Thread     a value.
// Allocates  freely.
// Fails      never.
// Invariant  in a map `keys` and `items` have the same size, and no key occurs twice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::config {

// The origin of a value. All nodes from one source share its file or name.
struct Origin {
  // The default, or one of the places of sources.hpp. `flag` is a flag other than --set.
  enum class Kind : std::uint8_t { defaulted, file, environment, set, flag };

  Kind kind = Kind::defaulted;  // tells which of the members below are valid
  int line = 0;                 // line of a file, from 1
  // The name of the file, of the variable, of the key of --set, or of the flag for a key.
  std::shared_ptr<const std::string> name;

  // "katana.yaml:12", "environment KATANA_PORT", "--set http.port", "--port" or "default"
  std::string describe() const;
};

struct Node {
  // The kind of a node; nothing: null, or absent.
  enum class Kind : std::uint8_t { nothing, text, list, map };

  Kind kind = Kind::nothing;      // tells which of the members below are valid
  bool quoted = false;            // in a file: such text is never a number
  std::string text;               // of Kind::text, without quotes
  std::vector<Node> items;        // of Kind::list and Kind::map
  std::vector<std::string> keys;  // of Kind::map; keys[i] is the name of items[i]
  Origin origin;                  // for messages
  int key_line = 0;               // in a file: the line of the key of this value

  // The origin of its key, or of the node if it has no key.
  Origin key_origin() const;
  // The value of a key of a map; null if there is no such key.
  Node* find(Bytes key) noexcept;
  const Node* find(Bytes key) const noexcept { return const_cast<Node*>(this)->find(key); }
  // The name of the kind for messages: "text", "a list".
  Bytes kind_name() const noexcept;
};

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
