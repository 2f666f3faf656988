// parse(): the text of a file, JSON or YAML, as a tree of nodes with their positions.
//
// Text that begins with `{` or `[` is JSON (RFC 8259) if it can be read so, or if the name ends
// with ".json". All other text is YAML 1.2 with the core schema. An alias of YAML is a copy of the
// node with its anchor. `<<` takes over the keys of one or several objects, unless the object has
// them already. Tags are ignored.
//
// Owns       nothing.
// Thread     any.
// Allocates  at most nodes_max nodes, whatever aliases multiply.
// Fails      adds to `problems`: text that is not UTF-8, a syntax error, a second document, more
//            than depth_max levels or nodes_max nodes. A key that stands twice or is not text is
//            added, too. The readable part is returned in any case.
// Invariant  no text throws or aborts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/openapi/model/node.hpp"

namespace katana::openapi::model {

// A fault in the text; SourceSet makes it a Problem of the file.
struct ParseProblem {
  Position position;  // where it was found
  std::string words;  // without the place: "expected a value"
};

// A text as far as it could be read.
struct Parsed {
  Node root = {};                           // null when nothing could be read
  std::size_t nodes = 0;                    // counted against nodes_max, with copies by aliases
  std::vector<ParseProblem> problems = {};  // in the order found; empty: all was read
};

Parsed parse(Bytes text, Bytes name, std::size_t depth_max, std::size_t nodes_max);

// Does the same as parse(), by RFC 8259 alone; `text` has to be UTF-8.
Parsed parse_json(Bytes text, std::size_t depth_max, std::size_t nodes_max);
// Does the same as parse(), by YAML 1.2 alone; `text` has to be UTF-8.
Parsed parse_yaml(Bytes text, std::size_t depth_max, std::size_t nodes_max);
// The words of a ParseProblem about a name that stands twice in one object.
std::string repeated_words(Bytes name);

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
