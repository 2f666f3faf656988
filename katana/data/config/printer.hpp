// print_group()     a described struct as YAML, with the origin of every value as a comment
// print_defaults()  its defaults as YAML, with the meaning of every key as a comment
// write_value()     a value in one line
//
// Owns       nothing.
// Thread     one.
// Allocates  the text.
// Fails      never.
// Invariant  a secret value, and all values inside it, are written as ***.
#pragma once

#include <cstddef>
#include <string>

#include "katana/base/values/described.hpp"
#include "katana/data/config/reader.hpp"
#include "katana/data/config/table.hpp"

namespace katana::config {

// Writes a value in one line. `shown`: also writes secrets inside it, for the comparison of values.
// A byte_count has its unit. REQUIRES that `value` is of the type.
std::string write_value(const Type& type, const void* value, bool shown, bool byte_count = false);
template <class T>
std::string write_value(const T& value, bool shown = false) {
  return write_value(type_of<T>(), &value, shown);
}

// One pass of the printer.
struct Printing {
  const Origins& origins;  // for the comment behind each value
  std::string text = {};   // the lines so far
  std::string path = {};   // path of the value that is printed
  std::size_t depth = 0;   // number of groups around it

  // Adds a line "  port: 9000                # katana.yaml:3"; without a value: a group's head.
  void line(Bytes name, Bytes value);
};

// Prints a group. REQUIRES that `value` is of the group.
void print_group(Printing& printing, const Group& group, const void* value, bool secret = false);
template <Described T>
void print_group(Printing& printing, const T& value, bool secret = false) {
  print_group(printing, *type_of<T>().group, &value, secret);
}

// Prints the defaults. REQUIRES that `value` is of the group, and its members are the defaults.
std::string print_defaults(const Group& group, const void* value);
// Prints the defaults of T. The members of a dictionary of groups are comments, below the key NAME.
template <Described T>
std::string print_defaults() {
  const T value = T();
  return print_defaults(*type_of<T>().group, &value);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
