// ValueView: a view of a container::Value for Evaluation. equal() and hash() serve all views, by
// the rules of JSON Schema.
//
// Borrows    the value.
// Thread     a value.
// Allocates  equal() of arrays and objects.
// Fails      never. JSON has no `Octets`: they count as a string that matches only its type.
// Source     JSON Schema 2020-12, Core §4.2.2.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/keyed_hash.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/compiled.hpp"
#include "katana/data/schema/number.hpp"

namespace katana::schema {

class ValueView {
 public:
  explicit ValueView(const Value& value) noexcept : value_(&value) {}
  // A view of a text, such as the name of a member.
  static ValueView of_text(Bytes text) noexcept { return ValueView(text); }

  // The type, as one bit. A number without a fraction is integer_type.
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
  // The number; 0 for another type.
  Number number() const noexcept {
    if (const auto integer = value_->get_integer()) return static_cast<Number>(*integer);
    if (const auto natural = value_->get_natural()) return static_cast<Number>(*natural);
    return static_cast<Number>(value_->get_real().value_or(0));
  }
  // The text, valid as long as the value; empty for bytes and for another type.
  Bytes text() const noexcept {
    if (value_ == nullptr) return text_;
    return value_->kind() == container::Kind::text ? Bytes(value_->as_text()) : Bytes();
  }
  // The boolean. REQUIRES boolean_type.
  bool boolean() const noexcept { return *value_ == Value(true); }
  std::size_t size() const noexcept {
    if (const auto* const list = value_->get_list()) return list->size();
    return value_->as_object().size();
  }
  // A number that is unique for an array or object.
  std::uint64_t identity() const noexcept {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(value_));
  }
  // True if the object has a member of that name. REQUIRES object_type.
  bool has(Bytes name) const noexcept { return value_->as_object().find(name) != nullptr; }

  // Calls visit(ValueView) for each item, until it returns false.
  template <class Visit>
  void for_each_item(Visit&& visit) const {
    for (const Value& each : value_->as_list()) {
      if (!visit(ValueView(each))) return;
    }
  }
  // Calls visit(Bytes, ValueView) for each member in its order, until it returns false.
  template <class Visit>
  void for_each_member(Visit&& visit) const {
    for (const container::Member& each : value_->as_object()) {
      if (!visit(Bytes(each.name), ValueView(each.value))) return;
    }
  }

 private:
  explicit ValueView(Bytes text) noexcept : text_(text) {}
  const Value* value_ = nullptr;  // null: the value is text_
  Bytes text_;
};

// equal() and hash() take steps from a budget. Their result is meaningless when it is spent.
template <class A, class B>
bool equal(const A& a, const B& b, StepBudget& budget);

namespace detail {

template <class A, class B>
bool equal_items(const A& a, const B& b, StepBudget& budget) {
  if (a.size() != b.size() || !budget.take(a.size())) return false;
  std::vector<B> others;
  others.reserve(b.size());
  b.for_each_item([&](const B& item) {
    others.push_back(item);
    return true;
  });
  bool same = true;
  std::size_t at = 0;
  a.for_each_item([&](const A& item) { return same = equal(item, others[at++], budget); });
  return same;
}

// Compares sorted members, which takes n log n steps.
template <class A, class B>
bool equal_members(const A& a, const B& b, StepBudget& budget) {
  if (a.size() != b.size() || !budget.take(a.size())) return false;
  std::vector<std::pair<Bytes, B>> others;
  others.reserve(b.size());
  b.for_each_member([&](Bytes name, const B& value) {
    others.emplace_back(name, value);
    return true;
  });
  std::ranges::sort(others, {}, &std::pair<Bytes, B>::first);
  bool same = true;
  a.for_each_member([&](Bytes name, const A& value) {
    const auto found = std::ranges::lower_bound(others, name, {}, &std::pair<Bytes, B>::first);
    return same =
               found != others.end() && found->first == name && equal(value, found->second, budget);
  });
  return same;
}

}  // namespace detail

// True if the instances are equal: 1 equals 1.0, and the order of members does not count.
template <class A, class B>
bool equal(const A& a, const B& b, StepBudget& budget) {
  const Type type = a.type();
  if (type != b.type()) return false;
  switch (type) {
    case boolean_type: return a.boolean() == b.boolean();
    case integer_type:
    case number_type: return a.number() == b.number();
    case string_type: {
      const Bytes text = a.text();
      return text.size() == b.text().size() && budget.take(text.size() / 64) && text == b.text();
    }
    case array_type: return detail::equal_items(a, b, budget);
    case object_type: return detail::equal_members(a, b, budget);
    default: return true;
  }
}

// A hash that is the same for equal instances.
template <class View>
std::uint64_t hash(const View& view, const KeyedHash& keyed, StepBudget& budget) {
  const Type type = view.type();
  std::uint64_t made = type;
  if (!budget.take(1)) return made;
  switch (type) {
    case boolean_type: return keyed.of(made, view.boolean() ? 1 : 0);
    case integer_type:
    case number_type:
      return keyed.of(made, std::bit_cast<std::uint64_t>(static_cast<double>(view.number()) + 0.0));
    case string_type: {
      const Bytes text = view.text();
      return budget.take(text.size() / 16) ? keyed.of(made, keyed.of(text)) : made;
    }
    case array_type:
      view.for_each_item([&](const View& item) {
        made = keyed.of(made, hash(item, keyed, budget));
        return !budget.is_spent();
      });
      return made;
    case object_type:
      view.for_each_member([&](Bytes name, const View& value) {
        made += keyed.of(keyed.of(name), hash(value, keyed, budget));
        return !budget.is_spent();
      });
      return made;
    default: return keyed.of(made, 0);
  }
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
