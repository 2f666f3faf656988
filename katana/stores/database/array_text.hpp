// Arrays as columns and parameters: a std::vector is a JSON array, in text.
//
//   std::vector<std::string>                 ["a","b"]
//   std::vector<std::optional<Decimal>>      ["1.50",null]
//   std::vector<std::vector<int>>            [[1,2],[3,4]]
//
// Therefore SQLite can read it by json_each(), and PostgreSQL as jsonb. For arrays of PostgreSQL
// the driver converts it to their form and back. Numbers are numbers, all other values are strings.
//
// Owns       the text that it wrote.
// Borrows    ArrayReader the text.
// Thread     one.
// Allocates  the text; an element that has escapes.
// Fails      ArrayReader::next() returns Kind::broken for a text that is no such array.
// Invariant  a text is read as the same elements that were written. The type bounds the nesting.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/format.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana::database {

namespace detail {
template <class T>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<std::vector<T>> = !std::same_as<T, std::byte>;
template <class T>
inline constexpr bool no_element = false;

// With quotes, and escapes where JSON wants them.
void append_json_string(std::string& out, Bytes text);

template <class T>
void append_array(std::string& out, const std::vector<T>& elements);
template <Described T>
void append_composite(std::string& out, const T& value);  // composite_text.hpp

template <class T>
void append_element(std::string& out, const T& element) {
  if constexpr (is_optional<T>) {
    static_assert(!is_patch<T>, "a Patch is no element: an absent one would become null");
    element ? append_element(out, *element) : void(out += "null");
  } else if constexpr (std::same_as<T, bool>) {
    out += element ? "true" : "false";
  } else if constexpr (DescribedEnum<T>) {
    append_json_string(out, enumerator_name(element));
  } else if constexpr (std::is_enum_v<T>) {
    append_element(out, static_cast<std::underlying_type_t<T>>(element));
  } else if constexpr (std::is_integral_v<T>) {
    out += fmt::format_int(element).str();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isfinite(element)) {
      fmt::format_to(std::back_inserter(out), "{}", element);
    } else {
      out += std::isnan(element) ? "\"NaN\"" : element > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    }
  } else if constexpr (is_array<T>) {
    append_array(out, element);
  } else if constexpr (TextFormed<T>) {
    append_json_string(out, Bytes(TextForm<T>::write(element)));
  } else if constexpr (std::is_convertible_v<const T&, Bytes>) {
    append_json_string(out, Bytes(element));
  } else if constexpr (Described<T>) {
    append_composite(out, element);
  } else {
    static_assert(no_element<T>,
                  "this type is no element of an array or a composite. Give numbers, bool, text, "
                  "enumerations, types with a katana::TextForm or described structs, or "
                  "std::optional or std::vector of these");
  }
}

template <class T>
void append_array(std::string& out, const std::vector<T>& elements) {
  out += '[';
  bool first = true;
  for (const auto& element : elements) {
    if (!std::exchange(first, false)) out += ',';
    append_element<T>(out, element);
  }
  out += ']';
}
}  // namespace detail

// The elements as a JSON array.
template <class T>
std::string array_text(const std::vector<T>& elements) {
  std::string text;
  detail::append_array(text, elements);
  return text;
}

// The elements of such a text, one after another.
class ArrayReader {
 public:
  // The kind of an element; `end`: there is none, `broken`: the text is no such array from here on.
  enum class Kind : std::uint8_t { null, boolean, integer, real, text, array, object, end, broken };
  // One element, with its value where its kind has one.
  struct Element {
    Kind kind = Kind::broken;  // which of the members below is set
    std::int64_t integer = 0;  // of a boolean, too
    double real = 0;           // of Kind::real
    Bytes text = {};           // of an array or an object with its brackets; until the next call
  };
  explicit ArrayReader(Bytes text) noexcept : rest_(text) {}
  // The next element; Kind::end once, behind the last.
  Element next() { return next_between('[', ']', nullptr); }

 protected:
  // `name` gets the name of a member of an object; null: elements of an array.
  Element next_between(char first, char last, std::string* name);

 private:
  void skip_space() noexcept;
  Element read_string();
  Element read_nested() noexcept;
  Element read_word() noexcept;
  bool read_name(std::string& name);

  Bytes rest_;
  bool begun_ = false;
  std::string unescaped_;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
