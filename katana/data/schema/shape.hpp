// Shape: the kinds of data that a schema accepts, for readers of texts (parameters, forms).
//
// References and allOf narrow the shape. Every branch of anyOf and oneOf counts. `not` and `if` are
// left to the check.
//
// Borrows    the schema.
// Thread     a value.
// Allocates  the list of its nodes.
// Fails      never: an unknown part accepts everything.
// Invariant  a shape has each node once. Its size is bounded by the schema, however deep the data
//            is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/compiled.hpp"

namespace katana::schema {

class Shape {
 public:
  explicit Shape(const Node& node) : nodes_{&node} {}

  // A set of Type. If it accepts a number, it accepts an integer, too.
  std::uint8_t types() const;
  // The shape of an item of an array, and of a member of an object.
  Shape item(std::size_t index) const;
  Shape member(Bytes name) const;
  // The described properties, in the order of the schema.
  std::vector<std::string> names() const;
  // True if an object may have other members.
  bool takes_other_names() const;

 private:
  Shape() = default;
  std::vector<const Node*> nodes_;
};

// Converts a text to one of `types`: "7" to a number, and "true" to a boolean, if these are
// accepted. "" becomes null if a string is not accepted. Otherwise the result is the text.
container::Value value_of_text(Bytes text, std::uint8_t types);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
