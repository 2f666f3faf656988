// read_group(): reads a described struct from a tree of nodes, and checks every rule.
//
// Members that the tree does not name keep the values of their initialisers, unless they are
// `required`. Keys that the struct does not have are refused, unless its description ignores them.
//
// Owns       the origin of each value, by its path.
// Thread     one.
// Allocates  freely.
// Fails      adds to `problems`, and goes on.
// Invariant  no message contains a secret.
#pragma once

#include <map>
#include <string>

#include "katana/base/values/described.hpp"
#include "katana/data/config/node.hpp"
#include "katana/data/config/problems.hpp"
#include "katana/data/config/shape.hpp"
#include "katana/data/config/table.hpp"

namespace katana::config {

// The origin of each value, by its path: "http.port".
using Origins = std::map<std::string, Origin, std::less<>>;

// One pass of the reader over a tree of nodes.
struct Reading {
  Problems& problems;           // collects the mistakes
  const Shape& root;            // for "did you mean" with keys at other places
  std::string how_to_set = {};  // advice for a required value: "set it in katana.yaml, …"
  std::string path = {};        // path of the present value
  Origins origins = {};         // origins of the values so far
  bool secret = false;          // the value must not be shown
  Origin around = {};           // origin of the present group

  // Adds a problem of the present path.
  void problem(const Node& at, Bytes words);
  // Adds the problem that the present path has no value and needs one.
  void missing();
};

// Reads a group. `node` is null when no source gives a value. REQUIRES that `value` is of the
// group, and `shape` is its shape.
void read_group(Reading& reading, const Node* node, const Group& group, void* value,
                const Shape& shape);
template <Described T>
void read_group(Reading& reading, const Node* node, T& value, const Shape& shape) {
  read_group(reading, node, *type_of<T>().group, &value, shape);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
