// Separators: the lists of a described struct that are written in one text, as in ?ids=1,2,3.
//
//   struct Filter {
//     std::vector<int> ids;
//   };
//   KATANA_DESCRIBE(Filter, ids)
//   constexpr auto katana_separators(const Filter*) {
//     return std::array{katana::Separator{"ids", ','}};
//   }
//
// Other lists repeat their name for each item: ?ids=1&ids=2. A member with the separator
// katana::nested_names is sent by names with brackets, ?ids[0]=1, as objects are. A dictionary with
// katana::own_names has the names that no other member has: {"a": "1"} is ?a=1. SplitQuery<T> and
// similar types (http/handlers/split_parameters.hpp) read lists. NestedQuery<T>
// (http/handlers/nested_query.hpp) also reads brackets and own names. client::OperationCall writes
// all of them.
//
// Owns       nothing: names are literals.
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include <array>

#include "katana/base/text/bytes.hpp"

namespace katana {

// The separator between the items of one list in one text.
struct Separator {
  Bytes name;            // name of the member, as it is sent
  char separator = ',';  // in a query also ' ', '|' and '\t', which are escaped there
};

// The value of `separator` for names with brackets.
inline constexpr char nested_names = '[';

// The value of `separator` for a dictionary whose names are names of the query.
inline constexpr char own_names = '*';

// A struct with a katana_separators() in its namespace, as above.
template <class T>
concept HasSeparators = requires(const T* type) { katana_separators(type).size(); };

// The separator of a list; '\0': the name is repeated for each item.
template <class T>
constexpr char separator_of(Bytes name) noexcept {
  if constexpr (HasSeparators<T>) {
    for (const Separator& each : katana_separators(static_cast<const T*>(nullptr))) {
      if (each.name == name) return each.separator;
    }
  }
  return '\0';
}

// The name of the dictionary with own_names; empty: there is none.
template <class T>
constexpr Bytes own_names_of() noexcept {
  if constexpr (HasSeparators<T>) {
    for (const Separator& each : katana_separators(static_cast<const T*>(nullptr))) {
      if (each.separator == own_names) return each.name;
    }
  }
  return {};
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
