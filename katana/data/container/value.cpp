#include "katana/data/container/value.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

namespace katana::container {
namespace {

// Replaces "~1" by a slash and "~0" by a tilde (RFC 6901 §4).
std::string unescaped_step(Bytes step) {
  std::string name;
  for (std::size_t index = 0; index < step.size(); ++index) {
    const bool escape = step[index] == '~' && index + 1 < step.size();
    if (escape && step[index + 1] == '1') {
      name.push_back('/');
      ++index;
    } else if (escape && step[index + 1] == '0') {
      name.push_back('~');
      ++index;
    } else {
      name.push_back(step[index]);
    }
  }
  return name;
}

const Value* item_at(const List& list, Bytes step) noexcept {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool whole = error == std::errc{} && end == step.data() + step.size();
  const bool canonical = step == "0" || !step.starts_with('0');  // RFC 6901 §4
  return whole && canonical && index < list.size() ? &list[index] : nullptr;
}

}  // namespace

Object::Object() noexcept = default;
Object::Object(const Object& other) = default;
Object::Object(Object&& other) noexcept = default;
Object& Object::operator=(const Object& other) = default;
Object& Object::operator=(Object&& other) noexcept = default;
Object::~Object() = default;

void Object::reserve(std::size_t count) { members_.reserve(count); }
Value& Object::add(std::string name, Value value) {
  return members_.emplace_back(std::move(name), std::move(value)).value;
}

Value::Value() noexcept = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;
Value::Value(Boolean boolean) noexcept : content_(boolean.value) {}
Value::Value(Integer integer) noexcept : content_(integer.value) {}
Value::Value(Natural natural) noexcept : content_(natural.value) {}
Value::Value(Real real) noexcept : content_(real.value) {}
Value::Value(const char* text) : content_(std::in_place_type<std::string>, text) {}
Value::Value(Bytes text) : content_(std::in_place_type<std::string>, text) {}
Value::Value(std::string text) : content_(std::move(text)) {}
Value::Value(Octets octets) : content_(std::move(octets)) {}
Value::Value(List list) : content_(std::move(list)) {}
Value::Value(Object object) : content_(std::move(object)) {}

Object::Object(std::initializer_list<Member> members) : members_(members) {
  KATANA_REQUIRE(!has_duplicates());
}

const Value* Object::find(Bytes name) const noexcept {
  for (const Member& member : members_) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

Value* Object::find(Bytes name) noexcept {
  return const_cast<Value*>(std::as_const(*this).find(name));  // the object itself is not const
}

Value& Object::set(Bytes name, Value value) {
  if (Value* const found = find(name)) return *found = std::move(value);
  return add(std::string(name), std::move(value));
}

bool Object::erase(Bytes name) {
  return std::erase_if(members_, [name](const Member& member) { return member.name == name; }) != 0;
}

bool Object::has_duplicates() const {
  // A few are compared with each other. For many names of a client this would take too long.
  constexpr std::size_t few = 16;
  if (members_.size() <= few) {
    for (std::size_t one = 0; one < members_.size(); ++one) {
      for (std::size_t other = 0; other < one; ++other) {
        if (members_[one].name == members_[other].name) return true;
      }
    }
    return false;
  }
  std::vector<Bytes> names;
  names.reserve(members_.size());
  for (const Member& member : members_) names.emplace_back(member.name);
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

bool operator==(const Object& a, const Object& b) { return a.members_ == b.members_; }

std::optional<std::int64_t> Value::get_integer() const noexcept {
  if (const auto* number = std::get_if<std::int64_t>(&content_)) return *number;
  const auto* natural = std::get_if<std::uint64_t>(&content_);
  if (natural == nullptr || !std::in_range<std::int64_t>(*natural)) return std::nullopt;
  return static_cast<std::int64_t>(*natural);
}

std::optional<std::uint64_t> Value::get_natural() const noexcept {
  if (const auto* number = std::get_if<std::uint64_t>(&content_)) return *number;
  const auto* integer = std::get_if<std::int64_t>(&content_);
  if (integer == nullptr || *integer < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*integer);
}

std::optional<double> Value::get_real() const noexcept {
  if (const auto* number = std::get_if<double>(&content_)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&content_)) {
    return static_cast<double>(*integer);
  }
  const auto* natural = std::get_if<std::uint64_t>(&content_);
  return natural != nullptr ? std::optional(static_cast<double>(*natural)) : std::nullopt;
}

const Value* Value::at(Bytes pointer) const {
  const Value* value = this;
  while (value != nullptr && !pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const Bytes step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    if (const Object* const object = value->get_object()) {
      value = object->find(unescaped_step(step));
    } else if (const List* const list = value->get_list()) {
      value = item_at(*list, step);
    } else {
      value = nullptr;
    }
  }
  return value;
}

bool operator==(const Value& a, const Value& b) {
  const auto is_integer = [](const Value& value) {
    return value.kind() == Kind::integer || value.kind() == Kind::natural;
  };
  if (is_integer(a) && is_integer(b)) {
    return a.get_integer() == b.get_integer() && a.get_natural() == b.get_natural();
  }
  if (a.kind() == Kind::real && b.kind() == Kind::real) {
    return std::bit_cast<std::uint64_t>(*a.get_real()) ==
           std::bit_cast<std::uint64_t>(*b.get_real());
  }
  return a.content_ == b.content_;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
