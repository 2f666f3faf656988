// read_yaml(): the text of one YAML document as a tree of nodes with their lines.
//
// Aliases are copies of what their anchor stands for, `<<` takes over the keys of a group, or of
// several, that are not there themselves. Tags are not looked at.
//
// Owns       nothing.
// Thread     any.
// Allocates  at most nodes_max nodes, whatever aliases multiply.
// Fails      adds to `problems`: text that is not UTF-8, a syntax error, a key that stands twice, a
//            key that is not text, more than one document, more than depth_max levels or nodes_max
//            values. The readable part is returned in any case.
// Invariant  no text throws or aborts.
#pragma once

#include <cstddef>

#include "katana/base/text/bytes.hpp"
#include "katana/data/config/node.hpp"
#include "katana/data/config/problems.hpp"

namespace katana::config {

inline constexpr std::size_t depth_max = 64;  // levels of lists and maps
// Values of one document, with those that aliases repeat.
inline constexpr std::size_t nodes_max = 100'000;

// `origin` is that of every node; of a file each has its own line.
Node read_yaml(Bytes text, const Origin& origin, Problems& problems);

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
