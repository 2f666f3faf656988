// Range<T>: values from one bound to another, as PostgreSQL's ranges; text in SQLite.
//
//   database::Range<Date> stay{.lower = monday, .upper = friday};     // [monday,friday)
//   db.query<Stay>("SELECT * FROM stays WHERE days && $1::daterange", stay)
//
// Owns       its bounds.
// Thread     a value.
// Allocates  its text.
// Fails      TextForm's parse() with nothing.
// Invariant  a missing bound is infinite. PostgreSQL returns ranges of integers and dates as
//            [lower,upper), whatever bounds they were given with.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/decimal.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::database {

template <class T>
struct Range {
  std::optional<T> lower = std::nullopt;  // empty: no lower bound
  std::optional<T> upper = std::nullopt;  // empty: no upper bound
  bool has_lower = true;                  // the bound itself is a part of it
  bool has_upper = false;                 // the upper bound belongs to the range
  bool is_empty = false;                  // then there are no bounds

  // True when `value` lies in the range; false for an empty range.
  bool contains(const T& value) const {
    if (is_empty) return false;
    if (lower && (has_lower ? value < *lower : !(*lower < value))) return false;
    return !upper || (has_upper ? !(*upper < value) : value < *upper);
  }
  bool operator==(const Range&) const = default;
};

namespace detail {

// The text of a bound. It has none of the characters that delimit a range.
template <class T>
std::string bound_text(const T& bound) {
  if constexpr (TextFormed<T>) {
    return std::string(Bytes(TextForm<T>::write(bound)));
  } else {
    return std::to_string(bound);
  }
}
// Parses the bound of a range of integers.
std::optional<std::int64_t> parse_bound(Bytes text) noexcept;

template <class T>
std::optional<T> bound_from(Bytes text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  if constexpr (TextFormed<T>) {
    return TextForm<T>::parse(text);
  } else {
    const auto number = parse_bound(text);
    if (!number || !std::in_range<T>(*number)) return std::nullopt;
    return static_cast<T>(*number);
  }
}

}  // namespace detail
}  // namespace katana::database

template <class T>
struct katana::TextForm<katana::database::Range<T>> {
  using Range = katana::database::Range<T>;
  static constexpr Bytes expected = "a range such as [1,10)";

  static std::optional<Range> parse(Bytes text) {
    if (text == "empty") return Range{.is_empty = true};
    const std::size_t comma = text.find(',');
    if (text.size() < 3 || comma == Bytes::npos) return std::nullopt;
    const char first = text.front();
    const char last = text.back();
    if ((first != '[' && first != '(') || (last != ']' && last != ')')) return std::nullopt;
    const Bytes lower = text.substr(1, comma - 1);
    const Bytes upper = text.substr(comma + 1, text.size() - comma - 2);
    Range range{.has_lower = first == '[', .has_upper = last == ']'};
    if (!lower.empty() && !(range.lower = database::detail::bound_from<T>(lower))) {
      return std::nullopt;
    }
    if (!upper.empty() && !(range.upper = database::detail::bound_from<T>(upper))) {
      return std::nullopt;
    }
    return range;
  }
  static std::string write(const Range& range) {
    if (range.is_empty) return "empty";
    std::string text(1, range.has_lower ? '[' : '(');
    if (range.lower) text += database::detail::bound_text(*range.lower);
    text += ',';
    if (range.upper) text += database::detail::bound_text(*range.upper);
    return text += range.has_upper ? ']' : ')';
  }
};

// SPDX-License-Identifier: Apache-2.0
