// Box<T>: a value on the heap, for a struct that contains its own type.
//
//   struct Node {
//     std::string name;
//     Patch<Box<Node>> next;
//   };
//   KATANA_DESCRIBE(Node, name, (next, not_null))
//
//   node.next = Box(Node{.name = "b", .next = {}});
//   (*node.next)->name
//
// A Box is copied and compared by its value. JSON, MessagePack, the binary format and OpenAPI treat
// it as a T. A default-constructed Box is empty; readers fill it, and writers write it as null.
//
// Owns       its value.
// Thread     a value.
// Allocates  one T.
// Fails      operator*, operator-> REQUIRE a value.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana {

// A T on the heap, or nothing.
template <class T>
class Box {
 public:
  using element_type = T;  // as std::unique_ptr names it

  // Empty.
  Box() noexcept = default;
  // Holds `value`. It is implicit for the assignment of a value to a member. It is a template,
  // because T may be an AnyOf of incomplete types. The compiler then need not know T to tell
  // whether a Box can be made of another type.
  template <class U>
    requires std::same_as<std::remove_cvref_t<U>, T>
  Box(U&& value) : value_(new T(std::forward<U>(value))) {}  // NOLINT: it takes no Box
  Box(const Box& other) : value_(other.value_ != nullptr ? new T(*other.value_) : nullptr) {}
  Box(Box&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Box& operator=(Box other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Box() { delete value_; }

  // False: the box is empty.
  bool has_value() const noexcept { return value_ != nullptr; }
  explicit operator bool() const noexcept { return has_value(); }

  // REQUIRES a value.
  const T& operator*() const {
    KATANA_REQUIRE(value_ != nullptr);
    return *value_;
  }
  T& operator*() {
    KATANA_REQUIRE(value_ != nullptr);
    return *value_;
  }
  const T* operator->() const { return &**this; }
  T* operator->() { return &**this; }
  // Replaces the value by a default-constructed one.
  T& emplace() {
    *this = Box(T());
    return *value_;
  }

  friend bool operator==(const Box& one, const Box& other) {
    if (one.value_ == nullptr || other.value_ == nullptr) return one.value_ == other.value_;
    return *one.value_ == *other.value_;
  }

 private:
  // No std::unique_ptr: its default constructor needs the destructor of T, which may be incomplete.
  T* value_ = nullptr;
};

template <class T>
Box(T) -> Box<T>;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
