// ValueView: a container::Value as Evaluation sees instances. With what all views have: equal() and
// hash() by the rules of JSON Schema.
//
// Borrows    the value.
// Thread     a value.
// Allocates  never.
// Fails      never. Octets, which JSON does not have, are a string that matches nothing but its
//            type.
// Source     JSON Schema 2020-12, Core §4.2.2.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "katana/base/bytes.hpp"
#include "katana/base/keyed_hash.hpp"
#include "katana/container/value.hpp"
#include "katana/schema/compiled.hpp"
#include "katana/schema/number.hpp"

namespace katana::schema {

class ValueView {
 public:
  explicit ValueView(const Value& value) noexcept : value_(&value) {}
  // A name as an instance of its own.
  static ValueView of_text(Bytes text) noexcept { return ValueView(text); }

  // One bit; a number without a fraction is integer_type.
  Type type() const noexcept {
    if (value_ == nullptr) return string_type;
    switch (value_->kind()) {
      case container::Kind::null: return null_type;
      case container::Kind::boolean: return boolean_type;
      case container::Kind::integer:
      case container::Kind::natural: return integer_type;
      case container::Kind::real: return is_integer(number()) ? integer_type : number_type;
      case container::Kind::text:
      case container::Kind::octets: return string_type;
      case container::Kind::list: return array_type;
      case container::Kind::object: return object_type;
    }
    return null_type;
  }
  // Of another type 0.
  Number number() const noexcept {
    if (const auto integer = value_->get_integer()) return static_cast<Number>(*integer);
    if (const auto natural = value_->get_natural()) return static_cast<Number>(*natural);
    return static_cast<Number>(value_->get_real().value_or(0));
  }
  // Valid as long as the value. Of another type, and of octets, empty.
  Bytes text() const noexcept {
    if (value_ == nullptr) return text_;
    return value_->kind() == container::Kind::text ? Bytes(value_->as_text()) : Bytes();
  }
  // REQUIRES boolean_type.
  bool boolean() const noexcept { return *value_ == Value(true); }
  std::size_t size() const noexcept {
    if (const auto* const list = value_->get_list()) return list->size();
    return value_->as_object().size();
  }
  // REQUIRES object_type.
  bool has(Bytes name) const noexcept { return value_->as_object().find(name) != nullptr; }

  // `visit` is false when it wants no more.
  template <class Visit>
  void for_each_item(Visit&& visit) const {
    for (const Value& each : value_->as_list()) {
      if (!visit(ValueView(each))) return;
    }
  }
  // Likewise, with the name, in the order of the object.
  template <class Visit>
  void for_each_member(Visit&& visit) const {
    for (const container::Member& each : value_->as_object()) {
      if (!visit(Bytes(each.name), ValueView(each.value))) return;
    }
  }

 private:
  explicit ValueView(Bytes text) noexcept : text_(text) {}
  const Value* value_ = nullptr;  // null: it is text_
  Bytes text_;
};

template <class A, class B>
bool equal(const A& a, const B& b);

namespace detail {

template <class A, class B>
bool equal_items(const A& a, const B& b) {
  if (a.size() != b.size()) return false;
  std::vector<B> others;
  b.for_each_item([&](const B& item) {
    others.push_back(item);
    return true;
  });
  bool same = true;
  std::size_t at = 0;
  a.for_each_item([&](const A& item) { return same = equal(item, others[at++]); });
  return same;
}

template <class A, class B>
bool equal_members(const A& a, const B& b) {
  if (a.size() != b.size()) return false;
  bool same = true;
  a.for_each_member([&](Bytes name, const A& value) {
    bool found = false;
    b.for_each_member([&](Bytes other, const B& other_value) {
      found = name == other;
      if (found) same = equal(value, other_value);
      return !found;
    });
    return same = same && found;
  });
  return same;
}

}  // namespace detail

// 1 is 1.0, and the order of members does not count.
template <class A, class B>
bool equal(const A& a, const B& b) {
  const Type type = a.type();
  if (type != b.type()) return false;
  switch (type) {
    case boolean_type: return a.boolean() == b.boolean();
    case integer_type:
    case number_type: return a.number() == b.number();
    case string_type: return a.text() == b.text();
    case array_type: return detail::equal_items(a, b);
    case object_type: return detail::equal_members(a, b);
    default: return true;
  }
}

// Equal instances have the same.
template <class View>
std::uint64_t hash(const View& view, const KeyedHash& keyed) {
  const Type type = view.type();
  std::uint64_t made = type;
  switch (type) {
    case boolean_type: return keyed.of(made, view.boolean() ? 1 : 0);
    case integer_type:
    case number_type:
      return keyed.of(made, std::bit_cast<std::uint64_t>(static_cast<double>(view.number()) + 0.0));
    case string_type: return keyed.of(made, keyed.of(view.text()));
    case array_type:
      view.for_each_item([&](const View& item) {
        made = keyed.of(made, hash(item, keyed));
        return true;
      });
      return made;
    case object_type:
      view.for_each_member([&](Bytes name, const View& value) {
        made += keyed.of(keyed.of(name), hash(value, keyed));
        return true;
      });
      return made;
    default: return keyed.of(made, 0);
  }
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
