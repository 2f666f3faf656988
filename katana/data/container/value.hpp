// Value: data whose shape is known only when it is there: null, a boolean, a number, text, bytes,
// a list, or an object that keeps the order of its members.
//
// Owns       all that it holds.
// Thread     a value.
// Allocates  from the heap for text above 15 bytes, for bytes, lists and objects.
// Fails      as_…() REQUIRES the kind it names; get_…() is null or nothing for another one.
// Invariant  equal values are those that no format can tell apart: integers compare by number
//            whatever their sign, real numbers by their bits (-0.0 is not 0.0, a NaN equals
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

// What a Value holds. natural: an integer above the largest signed one.
enum class Kind : std::uint8_t {
  null,     // the default of a Value
  boolean,  // bool
  integer,  // std::int64_t
  natural,  // std::uint64_t above the largest std::int64_t
  real,     // double
  text,     // UTF-8
  octets,   // bytes; base64 in JSON
  list,     // of values of any kinds
  object    // members in the order in which they were added
};

class Value;
struct Member;

using Octets = std::vector<std::byte>;  // bytes; base64 in JSON
using List = std::vector<Value>;        // of values of any kinds

// Members in the order in which they were added. Looking one up takes time in proportion to their
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
  void reserve(std::size_t count);  // room for so many members, to add them without moving
  // Null when there is none.
  const Value* find(Bytes name) const noexcept;
  Value* find(Bytes name) noexcept;
  // Replaces the member of that name where it stands, or adds it behind the others.
  Value& set(Bytes name, Value value);
  // REQUIRES that there is no member of that name, without looking.
  Value& add(std::string name, Value value);
  bool erase(Bytes name);
  // Whether some name occurs twice, which only add() can bring about. n log n.
  bool has_duplicates() const;

  // Members may be changed, but two must not come to have one name.
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

  // It decides which as_…() may be called.
  Kind kind() const noexcept { return static_cast<Kind>(content_.index()); }
  // True for a default-constructed Value; JSON null.
  bool is_null() const noexcept { return kind() == Kind::null; }

  // REQUIRE the kind.
  const std::string& as_text() const { return as<std::string>(); }
  const List& as_list() const { return as<List>(); }
  List& as_list() { return as<List>(); }
  const Object& as_object() const { return as<Object>(); }
  Object& as_object() { return as<Object>(); }

  // Null for another kind.
  const std::string* get_text() const noexcept { return std::get_if<std::string>(&content_); }
  const Octets* get_octets() const noexcept { return std::get_if<Octets>(&content_); }
  std::optional<bool> get_boolean() const noexcept {
    const bool* const found = std::get_if<bool>(&content_);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  }
  // Numbers, where the type can hold them exactly.
  std::optional<std::int64_t> get_integer() const noexcept;
  std::optional<std::uint64_t> get_natural() const noexcept;
  // Any number, rounded to the nearest that there is.
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

// Here, where a member is complete. Copying, moving and destroying is compiled once, in value.cpp:
// a variant makes much code of it in every source.
inline std::size_t Object::size() const noexcept { return members_.size(); }
inline bool Object::empty() const noexcept { return members_.empty(); }
inline Member* Object::begin() noexcept { return members_.data(); }
inline Member* Object::end() noexcept { return members_.data() + members_.size(); }
inline const Member* Object::begin() const noexcept { return members_.data(); }
inline const Member* Object::end() const noexcept { return members_.data() + members_.size(); }

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
