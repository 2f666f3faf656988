// Shape: which kinds of data a schema takes, for those who make data of texts (parameters, forms).
//
// References and allOf narrow the shape; any branch of anyOf and oneOf counts. `not` and `if`
// are left to the check.
//
// Borrows    the schema.
// Thread     a value.
// Allocates  the list of its nodes.
// Fails      never: what cannot be told is everything.
// Invariant  a shape has each node once: what it takes is bounded by the schema, however deep the
//            data is.
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

  // A set of Type; where a number is taken, so is an integer.
  std::uint8_t types() const;
  // Of an array, and of an object: what is there.
  Shape item(std::size_t index) const;
  Shape member(Bytes name) const;
  // The properties that are described, in the order of the schema.
  std::vector<std::string> names() const;
  // Whether an object may have others.
  bool takes_other_names() const;

 private:
  Shape() = default;
  std::vector<const Node*> nodes_;
};

// What a text stands for, as one of `types`: "7" is the number where one is taken, and "true" the
// boolean; "" is null where no string is. Otherwise it is the text.
container::Value value_of_text(Bytes text, std::uint8_t types);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
