// Node: a value of a description as its file has it, JSON or YAML, with its position.
//
// Owns       its text and the nodes inside of it.
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
  std::uint32_t column = 0;  // likewise; counts bytes
  friend auto operator<=>(const Position&, const Position&) = default;
};

// A value, with all that is in it.
struct Node {
  // The kind that the file has, whatever a schema wants there.
  enum class Kind : std::uint8_t {
    null,     // in YAML a value that is left empty, too
    boolean,  // "true"; in YAML "True" and "TRUE", too
    number,   // kept as text: scalar_value() makes a number of it
    text,     // in YAML any quoted scalar, and any that is none of the others
    list,     // `items`
    object,   // `items` and `keys`
  };

  // The name of a member of an object.
  struct Key {
    std::string name;   // decoded, as the text of a node
    Position position;  // of the key, not of its value
  };

  Kind kind = Kind::null;   // decides which of the members below it has
  Position position;        // of its first character; a copy by a YAML alias has the original's
  std::string text;         // of text; of a number and a boolean, as they were written
  std::vector<Node> items;  // of a list, and the values of an object
  std::vector<Key> keys;    // of an object, one for each item

  // Compares the kind alone: an empty list is a list.
  bool is(Kind other) const noexcept { return kind == other; }
  // The value of a key of an object; null if there is none.
  const Node* find(Bytes key) const noexcept;
  // The node at a JSON pointer (RFC 6901), "" being this one; null if there is none.
  const Node* at(Bytes pointer) const;
  // The kind in words, for messages: "an object", "text".
  Bytes kind_name() const noexcept;
};

// Whether a member of a map of names is an extension and no entry, such as "x-note": "text". Such
// maps are the headers of a reply and the properties of a schema. The specification does not
// foresee extensions in them.
bool is_extension(const Node::Key& key, const Node& value) noexcept;

// Numbers that neither 64 bits nor a double can hold exactly are rounded.
container::Value to_value(const Node& node);
container::Value scalar_value(const Node& node);

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
