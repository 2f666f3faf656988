#include "katana/data/container/value_rules.hpp"

#include <algorithm>

#include "katana/base/system/check.hpp"
#include "katana/data/container/json_read.hpp"

namespace katana::container {
namespace {

bool is_number(const Value& value) noexcept {
  return value.kind() == Kind::integer || value.kind() == Kind::natural ||
         value.kind() == Kind::real;
}

Number number_of(const Value& value) noexcept {
  if (const auto integer = value.get_integer()) return static_cast<Number>(*integer);
  if (const auto natural = value.get_natural()) return static_cast<Number>(*natural);
  return static_cast<Number>(value.get_real().value_or(0));
}

// The rank of a value by its type. Numbers of all kinds are one type.
int rank_of(const Value& value) noexcept {
  return is_number(value) ? static_cast<int>(Kind::integer) : static_cast<int>(value.kind());
}

std::weak_ordering compare_lists(const List& one, const List& other) {
  for (std::size_t index = 0; index < one.size() && index < other.size(); ++index) {
    const std::weak_ordering order = compare_json(one[index], other[index]);
    if (order != 0) return order;
  }
  return one.size() <=> other.size();
}

std::vector<const Member*> by_name(const Object& object) {
  std::vector<const Member*> members;
  for (const Member& each : object) members.push_back(&each);
  std::ranges::sort(members, {}, &Member::name);
  return members;
}

std::weak_ordering compare_objects(const Object& one, const Object& other) {
  if (one.size() != other.size()) return one.size() <=> other.size();
  const auto left = by_name(one);
  const auto right = by_name(other);
  for (std::size_t index = 0; index < left.size(); ++index) {
    if (const auto order = left[index]->name <=> right[index]->name; order != 0) return order;
    const auto order = compare_json(left[index]->value, right[index]->value);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

Bytes type_of(const Value& value) noexcept {
  switch (value.kind()) {
    case Kind::null: return "null";
    case Kind::boolean: return "boolean";
    case Kind::text:
    case Kind::octets: return "string";
    case Kind::list: return "array";
    case Kind::object: return "object";
    default: return is_integer(number_of(value)) ? "integer" : "number";
  }
}

}  // namespace

std::weak_ordering compare_json(const Value& one, const Value& other) {
  if (const int left = rank_of(one), right = rank_of(other); left != right) return left <=> right;
  if (is_number(one)) {
    const Number left = number_of(one), right = number_of(other);
    return left < right   ? std::weak_ordering::less
           : right < left ? std::weak_ordering::greater
                          : std::weak_ordering::equivalent;
  }
  switch (one.kind()) {
    case Kind::boolean: return (one == Value(true)) <=> (other == Value(true));
    case Kind::text: return one.as_text() <=> other.as_text();
    case Kind::list: return compare_lists(one.as_list(), other.as_list());
    case Kind::object: return compare_objects(one.as_object(), other.as_object());
    default: return std::weak_ordering::equivalent;
  }
}

bool has_type(const Value& value, Bytes types) {
  const Bytes own = type_of(value);
  while (!types.empty()) {
    const Bytes each = types.substr(0, types.find(' '));
    types.remove_prefix(std::min(each.size() + 1, types.size()));
    if (each == own || (each == "number" && own == "integer")) return true;
  }
  return false;
}

JsonChoices::JsonChoices(Bytes list) {
  Result<Value> read = read_json<Value>(list);
  KATANA_REQUIRE(read.has_value() && read->get_list() != nullptr);
  choices_ = std::move(read->as_list());
}

bool JsonChoices::contains(const Value& value) const {
  return std::ranges::any_of(choices_,
                             [&](const Value& each) { return compare_json(each, value) == 0; });
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
