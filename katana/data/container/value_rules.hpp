// Value rules: functions for rules::satisfies() (base/values/rules.hpp) that compare values as JSON
// Schema does. Code from OpenAPI descriptions uses them; programs may, too.
//
//   (tags, satisfies([](const auto& list) -> bool { return is_unique(list); }, "unique items"))
//
// Owns       JsonChoices its values.
// Thread     any.
// Allocates  is_unique() a list of indexes; JsonChoices its values, once.
// Fails      JsonChoices REQUIRES its text to be a list in JSON.
// Invariant  1 equals 1.0, and the order of an object's members does not count. A call of
//            is_unique() takes n log n comparisons, because a client decides the number of items.
// Source     JSON Schema 2020-12, Core §4.2.2, Validation §6.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/values/rules.hpp"
#include "katana/data/container/json_number.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container {

// An order in which two values are equivalent if and only if they are equal in JSON.
std::weak_ordering compare_json(const Value& one, const Value& other);

// True if the value has one of these types of JSON Schema: "object null". An integer is a number,
// too.
bool has_type(const Value& value, Bytes types);

// A list of values in JSON.
class JsonChoices {
 public:
  explicit JsonChoices(Bytes list);
  // True if a choice equals the value in JSON: 1 and 1.0 are one number (JSON Schema §4.2.2).
  bool contains(const Value& value) const;

 private:
  List choices_;
};

namespace detail {

template <class T>
bool is_before(const T& one, const T& other) {
  if constexpr (std::same_as<T, Value>) {
    return compare_json(one, other) < 0;
  } else if constexpr (is_optional<T>) {
    if (!one || !other) return !one && static_cast<bool>(other);
    return is_before(*one, *other);
  } else if constexpr (DictionaryMember<T> || ListMember<T>) {
    return std::lexicographical_compare(
        one.begin(), one.end(), other.begin(), other.end(),
        [](const auto& a, const auto& b) { return is_before(a, b); });
  } else if constexpr (requires { one.first; }) {
    if (one.first != other.first) return one.first < other.first;
    return is_before(one.second, other.second);
  } else {
    return one < other;
  }
}

}  // namespace detail

// True if no two items are equal.
template <ListMember T>
bool is_unique(const T& list) {
  using Item = typename T::value_type;
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t one, std::size_t other) {
    return detail::is_before<Item>(list[one], list[other]);
  };
  std::ranges::sort(order, before);
  return std::ranges::adjacent_find(order, [&](std::size_t one, std::size_t other) {
           return !before(one, other);
         }) == order.end();
}

// True if `value` equals one of `choices`.
template <class T>
bool is_one_of(const T& value, std::initializer_list<std::type_identity_t<T>> choices) {
  return std::ranges::find(choices, value) != choices.end();
}
// The same for text.
inline bool is_one_of(const std::string& value, std::initializer_list<Bytes> choices) {
  return std::ranges::find(choices, Bytes(value)) != choices.end();
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
