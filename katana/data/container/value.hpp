// Value: data of a form that is known only at run time. It is null, a boolean, a number, text,
// bytes, a list, or an object that keeps the order of its members.
//
// Owns       its content.
// Thread     a value.
// Allocates  from the heap for text above 15 bytes, for bytes, lists and objects.
// Fails      as_…() REQUIRES the kind in its name; get_…() is null or nothing for another one.
// Invariant  values are equal if no format can tell them apart. Integers compare by number, with or
//            without a sign. Real numbers compare by their bits (-0.0 is not 0.0, a NaN equals
//            itself), and 1 is not 1.0.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::container {

// The kind of content of a Value. natural: an integer above the largest signed one.
enum class Kind : std::uint8_t {
  null,     // the default of a Value
  boolean,  // bool
  integer,  // std::int64_t
  natural,  // std::uint64_t above the largest std::int64_t
  real,     // double
  text,     // UTF-8
  octets,   // bytes; base64 in JSON
  list,     // values of any kinds
  object    // members in the order in which they were added
};

class Value;
struct Member;

using Octets = std::vector<std::byte>;  // bytes; base64 in JSON
using List = std::vector<Value>;        // values of any kinds

// Members in the order in which they were added. The time of a lookup is proportional to their
// number.
class Object {
 public:
  Object() noexcept;
  Object(std::initializer_list<Member> members);
  Object(const Object& other);
  Object(Object&& other) noexcept;
  Object& operator=(const Object& other);
  Object& operator=(Object&& other) noexcept;
  ~Object();

  std::size_t size() const noexcept;
  bool empty() const noexcept;
  void reserve(std::size_t count);  // makes room for `count` members, which are then not moved
  // The value of the member with this name; null when there is none.
  const Value* find(Bytes name) const noexcept;
  Value* find(Bytes name) noexcept;
  // Replaces the value of the member with this name, or adds it behind the others.
  Value& set(Bytes name, Value value);
  // Adds a member without a search. REQUIRES that there is no member of that name.
  Value& add(std::string name, Value value);
  bool erase(Bytes name);
  // True if a name occurs twice, which only add() can cause. Takes n log n steps.
  bool has_duplicates() const;

  // Members may be changed, but two must not get the same name.
  Member* begin() noexcept;
  Member* end() noexcept;
  const Member* begin() const noexcept;
  const Member* end() const noexcept;

  friend bool operator==(const Object& a, const Object& b);

 private:
  std::vector<Member> members_;
};

class Value {
 public:
  Value() noexcept;
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  Value(std::nullptr_t) noexcept : Value() {}  // NOLINT: implicit on purpose, as those that follow
  Value(std::same_as<bool> auto value) : Value(Boolean{value}) {}
  Value(std::signed_integral auto value) : Value(Integer{value}) {}
  Value(std::unsigned_integral auto value)
    requires(!std::same_as<decltype(value), bool>)
      : Value(Natural{value}) {}
  Value(std::floating_point auto value) : Value(Real{static_cast<double>(value)}) {}
  Value(const char* text);
  Value(Bytes text);
  Value(std::string text);
  Value(Octets octets);
  Value(List list);
  Value(Object object);

  // The kind, which decides which as_…() may be called.
  Kind kind() const noexcept { return static_cast<Kind>(content_.index()); }
  // True for a default-constructed Value; JSON null.
  bool is_null() const noexcept { return kind() == Kind::null; }

  // The content. They REQUIRE its kind.
  const std::string& as_text() const { return as<std::string>(); }
  const List& as_list() const { return as<List>(); }
  List& as_list() { return as<List>(); }
  const Object& as_object() const { return as<Object>(); }
  Object& as_object() { return as<Object>(); }

  // The content; null for another kind.
  const std::string* get_text() const noexcept { return std::get_if<std::string>(&content_); }
  const Octets* get_octets() const noexcept { return std::get_if<Octets>(&content_); }
  std::optional<bool> get_boolean() const noexcept {
    const bool* const found = std::get_if<bool>(&content_);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  }
  // A number, if the type can hold it exactly.
  std::optional<std::int64_t> get_integer() const noexcept;
  std::optional<std::uint64_t> get_natural() const noexcept;
  // Any number, rounded to the nearest double.
  std::optional<double> get_real() const noexcept;
  const List* get_list() const noexcept { return std::get_if<List>(&content_); }
  const Object* get_object() const noexcept { return std::get_if<Object>(&content_); }
  // The value at a JSON pointer (RFC 6901), such as "/items/3/email"; null when there is none.
  const Value* at(Bytes pointer) const;

  // Calls `visit` with the content: std::monostate, bool, std::int64_t, std::uint64_t, double, …
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    return std::visit(std::forward<Visit>(visit), content_);
  }

  friend bool operator==(const Value& a, const Value& b);

 private:
  struct Boolean {
    bool value;
  };
  struct Integer {
    std::int64_t value;
  };
  struct Natural {
    std::uint64_t value;
  };
  struct Real {
    double value;
  };
  explicit Value(Boolean boolean) noexcept;
  explicit Value(Integer integer) noexcept;
  explicit Value(Natural natural) noexcept;
  explicit Value(Real real) noexcept;

  template <class T>
  const T& as() const {
    const T* const found = std::get_if<T>(&content_);
    KATANA_REQUIRE(found != nullptr);
    return *found;
  }
  template <class T>
  T& as() {
    return const_cast<T&>(std::as_const(*this).as<T>());  // the value itself is not const
  }

  // In the order of Kind.
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Octets, List,
               Object>
      content_;
};

// One name of an Object, with its value.
struct Member {
  std::string name;  // unique in its Object
  Value value;       // of any kind
  friend bool operator==(const Member& a, const Member& b) {
    return a.name == b.name && a.value == b.value;
  }
};

// Defined here, where Member is complete. Copy, move and destruction are compiled once, in
// value.cpp, because a variant would generate much code for them in every source.
inline std::size_t Object::size() const noexcept { return members_.size(); }
inline bool Object::empty() const noexcept { return members_.empty(); }
inline Member* Object::begin() noexcept { return members_.data(); }
inline Member* Object::end() noexcept { return members_.data() + members_.size(); }
inline const Member* Object::begin() const noexcept { return members_.data(); }
inline const Member* Object::end() const noexcept { return members_.data() + members_.size(); }

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
