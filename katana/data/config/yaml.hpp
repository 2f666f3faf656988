// read_yaml(): reads one YAML document as a tree of nodes with their lines.
//
// An alias is a copy of the value of its anchor. `<<` adds the keys of one or more groups that the
// group itself does not have. Tags are ignored.
//
// Owns       nothing.
// Thread     any.
// Allocates  at most nodes_max nodes, whatever aliases multiply.
// Fails      adds to `problems`: text that is not UTF-8, a syntax error, a repeated key, a key that
//            is not text. Further problems are a second document, and more than depth_max levels
//            or nodes_max values. It returns the readable part in any case.
// Invariant  no text throws or aborts.
#pragma once

#include <cstddef>

#include "katana/base/text/bytes.hpp"
#include "katana/data/config/node.hpp"
#include "katana/data/config/problems.hpp"

namespace katana::config {

inline constexpr std::size_t depth_max = 64;  // levels of lists and maps
// The largest number of values of one document, including the copies of aliases.
inline constexpr std::size_t nodes_max = 100'000;

// Reads a document. Every node gets `origin`, with its line if the origin is a file.
Node read_yaml(Bytes text, const Origin& origin, Problems& problems);

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
