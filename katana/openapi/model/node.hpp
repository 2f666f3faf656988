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

#include "katana/base/text/bytes.hpp"
#include "katana/data/container/value.hpp"

namespace katana::openapi::model {

// Where a value or a key begins in its file.
struct Position {
  std::uint32_t line = 0;    // from 1; 0: not in a file
  std::uint32_t column = 0;  // likewise; counts bytes in JSON, characters in YAML
  friend auto operator<=>(const Position&, const Position&) = default;
};

// A value, with all that is in it.
struct Node {
  // As the file has it, whatever a schema wants there.
  enum class Kind : std::uint8_t {
    null,     // in YAML what is left empty, too
    boolean,  // "true"; in YAML "True" and "TRUE", too
    number,   // kept as text: scalar_value() makes a number of it
    text,     // in YAML all that is quoted, or is none of the others
    list,     // `items`
    object,   // `items` and `keys`
  };

  // The name of a member of an object.
  struct Key {
    std::string name;   // decoded, as the text of a node
    Position position;  // of the key, not of its value
  };

  Kind kind = Kind::null;   // says which of the members below it has
  Position position;        // where it begins; of what a YAML alias copies: where that stands
  std::string text;         // of text; of a number and a boolean, as they were written
  std::vector<Node> items;  // of a list, and the values of an object
  std::vector<Key> keys;    // of an object, one for each item

  // By the kind alone: an empty list is one.
  bool is(Kind other) const noexcept { return kind == other; }
  // The value of a key of an object; null if there is none.
  const Node* find(Bytes key) const noexcept;
  // The node at a JSON pointer (RFC 6901), "" being this one; null if there is none.
  const Node* at(Bytes pointer) const;
  // As words for messages: "an object", "text".
  Bytes kind_name() const noexcept;
};

// Whether a member of a map of names, such as the headers of a reply or the properties of a schema,
// is an extension that the specification does not foresee there, and no entry: "x-note": "text".
bool is_extension(const Node::Key& key, const Node& value) noexcept;

// Numbers that neither 64 bits nor a double can hold exactly are rounded.
container::Value to_value(const Node& node);
container::Value scalar_value(const Node& node);

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
