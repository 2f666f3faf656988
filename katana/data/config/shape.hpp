// Shape: the keys that a described struct has, as a tree of names, to find the place of a value
// that came by its path, and the key that was probably meant.
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

// A key that the configuration would have if the program had another part.
struct AbsentKey {
  Bytes path;    // "redis", or "bus.url"
  Bytes remedy;  // a sentence without its end
};

struct Shape {
  // What a key of the configuration holds.
  enum class Kind : std::uint8_t {
    value,       // one text
    list,        // of elements of one shape
    group,       // a described struct
    dictionary,  // of any keys
  };
  Bytes name;                  // the key; empty for the root and for elements
  Kind kind = Kind::value;     // which of the members below count
  bool secret = false;         // the value is not shown
  std::vector<Shape> members;  // of a group; of a dictionary or list one, that of its elements
  std::vector<AbsentKey> absent = {};  // of a group: keys that it has not

  // Of a group, in any case; null: it is not among those.
  const AbsentKey* find_absent(Bytes key) const noexcept;

  const Shape* find(Bytes key) const noexcept;  // null: there is no member of this name
  // As find(), of any case.
  const Shape* find_any_case(Bytes key) const noexcept;
};

// "unknown key; did you mean 'http'?" or "unknown key; known are: address, port". `root` is looked
// through for a key of this name elsewhere.
std::string unknown_key(const Shape& group, Bytes key, const Shape& root);

// All members inherit `secret`.
Shape shape_of(const Type& type, Bytes name = {}, bool secret = false);
// The same for a described T.
template <class T>
Shape shape_of(Bytes name = {}, bool secret = false) {
  return shape_of(type_of<T>(), name, secret);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
