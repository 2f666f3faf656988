// Node: a value of a description as its file has it, JSON or YAML, and where it stands there.
//
// Owns       its text and what is inside of it.
// Thread     a value.
// Allocates  freely.
// Fails      never.
// Invariant  no key of an object stands twice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/bytes.hpp"
#include "katana/container/value.hpp"

namespace katana::openapi::model {

// From 1; a column counts octets in JSON and characters in YAML. 0: not in a file.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Node {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };

  struct Key {
    std::string name;
    Position position;
  };

  Kind kind = Kind::null;
  Position position;
  std::string text;         // of text; of a number and a boolean, as they were written
  std::vector<Node> items;  // of a list, and the values of an object
  std::vector<Key> keys;    // of an object, one for each item

  bool is(Kind other) const noexcept { return kind == other; }
  // The value of a key of an object; null if there is none.
  const Node* find(Bytes key) const noexcept;
  // The node at a JSON pointer (RFC 6901), "" being this one; null if there is none.
  const Node* at(Bytes pointer) const;
  // As words for messages: "an object", "text".
  Bytes kind_name() const noexcept;
};

// Numbers that neither 64 bits nor a double can hold exactly are rounded.
container::Value to_value(const Node& node);
container::Value scalar_value(const Node& node);

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
