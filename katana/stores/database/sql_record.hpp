// StatementRecord: describes a statement's call as text in the object file.
//
//   query 58 2                       the call, the literal's length (-: a constant), its arguments
//   row struct bookmarks::Bookmark   or "row tuple", "row value"; none for execute
//   column i64 id                    of each member: what it is read into, and its name
//   parameter i64                    of each value that the arguments stand for
//
// A type is one of:
//
//   i8 … i64, u8 … u32, bool, f32, f64, text, enum, blob, null
//   form NAME          of a type with a TextForm
//   number-form NAME   of one that reads integers as well
//
// A type with "?" in front is optional. `katana sql check` reads the record by the name of its
// symbol, and finds the literal in the source.
//
// Included with KATANA_SQL_RECORDS only, which katana_check_sql() sets for its target.
//
// Owns       a constant for each combination of call, types and length.
// Thread     any.
// Allocates  never: it is made by the compiler, and nothing of the program refers to it.
// Fails      never; types that are no parameter or no column are refused where they are used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "katana/stores/database/array_text.hpp"
#include "katana/stores/database/value.hpp"

namespace katana::database::detail {

// Counts without `out`, writes with it.
struct RecordText {
  char* out = nullptr;
  std::size_t size = 0;

  constexpr void add(std::string_view text) {
    if (out != nullptr) {
      for (const char c : text) *out++ = c;
    }
    size += text.size();
  }
  constexpr void add_number(std::size_t number) {
    if (number > 9) add_number(number / 10);
    const char digit = static_cast<char>('0' + number % 10);
    add({&digit, 1});
  }
};

template <class T>
consteval std::string_view record_type_name() {
  const std::string_view all = __PRETTY_FUNCTION__;  // "… [with T = X; std::string_view = …]"
  const std::size_t begin = all.find("T = ") + 4;
  return all.substr(begin, all.find_first_of(";]", begin) - begin);
}

template <class T>
constexpr bool form_reads_numbers() {
  if constexpr (TextFormed<T>) {
    return reads_numbers<T>();
  } else {
    return false;
  }
}

template <class T>
constexpr void add_type(RecordText& text) {
  if constexpr (is_optional<T>) {
    text.add("?");
    add_type<WithoutOptional<T>>(text);
  } else if constexpr (std::is_null_pointer_v<T> || std::is_same_v<T, std::nullopt_t>) {
    text.add("null");
  } else if constexpr (DescribedEnum<T>) {
    text.add("enum");
  } else if constexpr (TextFormed<T>) {
    text.add(form_reads_numbers<T>() ? "number-form " : "form ");
    text.add(record_type_name<T>());
  } else if constexpr (std::is_enum_v<T>) {
    add_type<std::underlying_type_t<T>>(text);
  } else if constexpr (std::is_same_v<T, bool>) {
    text.add("bool");
  } else if constexpr (std::is_integral_v<T>) {
    text.add(std::is_signed_v<T> ? "i" : "u");
    text.add_number(8 * sizeof(T));
  } else if constexpr (std::is_floating_point_v<T>) {
    text.add(sizeof(T) == 4 ? "f32" : "f64");
  } else if constexpr (std::is_same_v<T, Text> || Characters<T>) {
    text.add("text");
  } else if constexpr (Octets<T>) {
    text.add("blob");
  } else if constexpr (is_array<T>) {
    text.add("array");
  } else if constexpr (Described<T>) {
    text.add("composite");
  } else {
    text.add("unknown");  // does not compile where it is used
  }
}

template <class T>
constexpr void add_column(RecordText& text, std::string_view name) {
  text.add("column ");
  add_type<T>(text);
  text.add("\t");
  text.add(name);
  text.add("\n");
}

template <class R>
struct RowColumns {
  static constexpr void add(RecordText& text) {
    if constexpr (Described<R>) {
      text.add("row struct ");
      text.add(record_type_name<R>());
      text.add("\n");
      for_each_field<R>(
          [&](const auto& field) { add_column<MemberOf<decltype(field)>>(text, field.name); });
    } else {
      text.add("row value\n");
      add_column<R>(text, "");
    }
  }
};
template <>
struct RowColumns<void> {
  static constexpr void add(RecordText&) {}
};
template <class... Elements>
struct RowColumns<std::tuple<Elements...>> {
  static constexpr void add(RecordText& text) {
    text.add("row tuple\n");
    (add_column<Elements>(text, ""), ...);
  }
};

template <class T>
constexpr void add_parameter(RecordText& text) {
  text.add("parameter ");
  add_type<T>(text);
  text.add("\n");
}
template <class Argument>
constexpr void add_parameters(RecordText& text) {
  if constexpr (Described<Argument>) {
    for_each_field<Argument>(
        [&](const auto& field) { add_parameter<MemberOf<decltype(field)>>(text); });
  } else {
    add_parameter<Argument>(text);
  }
}

// `length` of a literal; 0: the statement is a constant.
template <class Call, class R, std::size_t length, class... Arguments>
struct StatementRecord {
  static constexpr void write(RecordText& text) {
    text.add(Call::name);
    text.add(" ");
    if constexpr (length == 0) {
      text.add("-");
    } else {
      text.add_number(length);
    }
    text.add(" ");
    text.add_number(sizeof...(Arguments));
    text.add("\n");
    RowColumns<R>::add(text);
    (add_parameters<std::remove_cvref_t<Arguments>>(text), ...);
  }
  static consteval std::size_t size() {
    RecordText text;
    write(text);
    return text.size;
  }
  static consteval auto make() {
    std::array<char, size() + 1> made{};
    RecordText text{.out = made.data()};
    write(text);
    return made;
  }

  // Not constexpr: g++ 12 keeps such a constant out of the object file.
  [[gnu::used]] static inline const auto katana_sql_record = make();
};

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
