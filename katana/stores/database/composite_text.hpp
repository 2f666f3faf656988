// Composites as columns and parameters. A described struct is an object of JSON, in text, when it
// is a member or an element of a parameter or a column.
//
//   struct Address { std::string street; int zip = 0; };
//   KATANA_DESCRIBE(Address, street, zip)
//   struct Person { std::int64_t id = 0; Address home; };     // id, and {"street":"a","zip":1}
//
// Therefore SQLite can read it by json_extract(), and PostgreSQL as jsonb. For composite types the
// driver converts it to the form of PostgreSQL and back, by the names of their fields. A struct
// that is a row, or an argument, stands for its members: std::tuple(address) is one parameter.
//
// Owns       the text that it wrote.
// Borrows    CompositeReader the text.
// Thread     one.
// Allocates  the text; a name or an element that has escapes.
// Fails      CompositeReader::next() returns nothing for a text that is no such object. The error
//            of a value that does not fit names its field, and the field within it.
// Invariant  a text is read as the same members that were written. The type bounds the nesting.
#pragma once

#include <string>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/stores/database/array_text.hpp"

namespace katana::database {

namespace detail {

template <Described T>
void append_composite(std::string& out, const T& value) {
  out += '{';
  bool first = true;
  for_each_field(value, [&](const auto& field, const auto& member) {
    if (!std::exchange(first, false)) out += ',';
    append_json_string(out, field.name);
    out += ':';
    append_element(out, member);
  });
  out += '}';
}

// "has the field 'zip', which is no integer". Good until this thread's next.
const char* misfit_of_field(Bytes field, const char* why);
// "has no field 'zip'". Likewise.
const char* field_is_missing(Bytes field);

}  // namespace detail

// The members as a JSON object.
template <Described T>
std::string composite_text(const T& value) {
  std::string text;
  detail::append_composite(text, value);
  return text;
}

// The members of such a text, one after another.
class CompositeReader : private ArrayReader {
 public:
  // One member: its name and its value.
  struct Member {
    Bytes name = {};             // until the next call
    ArrayReader::Element value;  // Kind::end: there is none; Kind::broken: the text is no object
  };
  explicit CompositeReader(Bytes text) noexcept : ArrayReader(text) {}
  // The next one; Kind::end once, behind the last.
  Member next() {
    const Element value = next_between('{', '}', &name_);
    return {name_, value};
  }

 private:
  std::string name_;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
