// Shape: the keys of a described struct, as a tree of names. It serves to find the place of a value
// by its path, and to suggest the key that was probably meant.
//
// Owns       its members; names are literals.
// Thread     a value.
// Allocates  when it is made.
// Fails      never.
// Invariant  the order is that of the description.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/data/config/table.hpp"

namespace katana::config {

// A key of a part that the program does not have.
struct AbsentKey {
  Bytes path;    // "redis", or "bus.url"
  Bytes remedy;  // a sentence without its end
};

struct Shape {
  // The kind of value at a key of the configuration.
  enum class Kind : std::uint8_t {
    value,       // one text
    list,        // elements of one shape
    group,       // a described struct
    dictionary,  // values under any keys
  };
  Bytes name;                  // the key; empty for the root and for elements
  Kind kind = Kind::value;     // tells which of the members below are valid
  bool secret = false;         // the value is not shown
  std::vector<Shape> members;  // group: its members; list, dictionary: the shape of its elements
  std::vector<AbsentKey> absent = {};  // group: keys of absent parts

  // The absent key of a group with this name, ignoring case; null: there is none.
  const AbsentKey* find_absent(Bytes key) const noexcept;

  const Shape* find(Bytes key) const noexcept;  // null: there is no member of this name
  // As find(), ignoring case.
  const Shape* find_any_case(Bytes key) const noexcept;
};

// The message "unknown key; did you mean 'http'?" or "unknown key; known are: address, port". It
// searches `root` for a key of this name elsewhere.
std::string unknown_key(const Shape& group, Bytes key, const Shape& root);

// The shape of a type. All members inherit `secret`.
Shape shape_of(const Type& type, Bytes name = {}, bool secret = false);
// The same for a described T.
template <class T>
Shape shape_of(Bytes name = {}, bool secret = false) {
  return shape_of(type_of<T>(), name, secret);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
