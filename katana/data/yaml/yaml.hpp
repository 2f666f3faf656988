// read(): reads one YAML document as a tree of nodes with their positions.
//
// An alias is a copy of the value of its anchor. `<<` adds the keys of one or more groups that the
// group itself does not have. Scalars keep their text: the reader of a format gives them types.
//
// Owns       nothing.
// Thread     any.
// Allocates  at most nodes_max nodes, whatever aliases multiply.
// Fails      adds to the problems: a syntax error, a repeated key, a key that is a list or a group.
//            Further problems are a second document, and more than depth_max levels or nodes_max
//            values. It returns the readable part in any case.
// Invariant  no text throws or aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::yaml {

// The place where a value or a key begins; both from 1, or 0: unknown.
struct Position {
  std::uint32_t line = 0;    // of the text, not of a document in it
  std::uint32_t column = 0;  // counts bytes
};

// A value, with all that is in it.
struct Node {
  // empty: no value stands there.
  enum class Kind : std::uint8_t { empty, scalar, list, map };
  // How a scalar is written. tagged: with an explicit type, as `!!str`.
  enum class Style : std::uint8_t { plain, quoted, tagged };

  // The name of a member of a map.
  struct Key {
    std::string name;            // without quotes
    Position position;           // of the key, not of its value
    bool is_empty = false;       // no name stands there
    Style style = Style::plain;  // of the name
  };

  Kind kind = Kind::empty;       // tells which of the members below are valid
  Style style = Style::plain;    // of a scalar
  Position position = {};        // a copy by an alias has that of the original
  std::string text = {};         // of a scalar, without quotes
  std::vector<Node> items = {};  // of a list, and the values of a map
  std::vector<Key> keys = {};    // of a map, one for each item; no name stands twice

  // The position of a key in `keys`; keys.size(): there is none.
  std::size_t index_of(Bytes name) const noexcept;
};

// A fault in the text.
struct Problem {
  Position position = {};        // of the key or value that is wrong
  std::string key = {};          // the key that is wrong; empty: the problem is of no key
  std::string words = {};        // without the place
  std::uint32_t first_line = 0;  // of a repeated key: the line where it stands first; otherwise 0
};

// A text as far as it could be read.
struct Parsed {
  Node root = {};                      // empty: nothing could be read
  std::size_t nodes = 0;               // counted against nodes_max, with copies by aliases
  std::vector<Problem> problems = {};  // in the order found; empty: all was read
};

// Bounds of one document.
struct Limits {
  std::size_t depth_max = 64;       // levels of lists and maps
  std::size_t nodes_max = 100'000;  // values, including the copies of aliases
};

// REQUIRES that the text is UTF-8: other bytes are replaced.
Parsed read(Bytes text, const Limits& limits);

}  // namespace katana::yaml

// SPDX-License-Identifier: Apache-2.0
