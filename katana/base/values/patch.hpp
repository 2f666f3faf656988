// Patch<T>: a member of a merge patch (RFC 7396), which is absent, null or a value.
//
//   struct UserPatch {
//     Patch<std::string> name;
//     Patch<std::string> nickname;
//   };
//   KATANA_DESCRIBE(UserPatch, (name, not_null, length(1, 80)), nickname)
//
//   Reply change(Path<std::int64_t> id, Json<UserPatch> patch) {
//     User user = …;
//     apply_patch(*patch, user);      // or member by member: patch->nickname.apply_to(…)
//
// In {"nickname":null} the name is absent and the nickname is null. Absent members are not written.
// Rules apply to a value; not_null refuses null. JSON, MessagePack, forms and OpenAPI take it. A
// parameter of SQL and the binary format have no third state: a Patch there does not compile.
//
// Owns       its value.
// Thread     a value.
// Allocates  as T does.
// Fails      value() and operator* REQUIRE a value.
#pragma once

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/values/described.hpp"

namespace katana {

// A value, null, or nothing. A std::optional would ask of T at once whether it can be copied
// trivially. The compiler then compiles the copies of all members of T, and of their members. A
// Patch compiles only what a program uses: decision 0197.
template <class T>
class Patch {
 public:
  using value_type = T;

  // Absent.
  constexpr Patch() noexcept : nothing_() {}
  // Null.
  constexpr Patch(std::nullopt_t) noexcept : nothing_(), state_(State::null) {}  // NOLINT: implicit
  Patch(T value) : value_(std::move(value)), state_(State::value) {}  // on purpose, as is
  Patch(const Patch& other) : nothing_() { copy(other); }
  // REQUIRES a T whose move does not throw: else the program terminates.
  Patch(Patch&& other) noexcept : nothing_() { move(other); }
  Patch& operator=(const Patch& other) {
    if (this != &other) *this = Patch(other);
    return *this;
  }
  Patch& operator=(Patch&& other) noexcept {
    if (this == &other) return *this;
    clear();
    move(other);
    return *this;
  }
  constexpr ~Patch() { clear(); }

  // The input does not name the member.
  bool is_absent() const noexcept { return state_ == State::absent; }
  // The input sets it to null.
  bool is_null() const noexcept { return state_ == State::null; }
  // The input has a value for it.
  bool has_value() const noexcept { return state_ == State::value; }
  explicit operator bool() const noexcept { return has_value(); }

  // REQUIRES has_value().
  const T& value() const {
    KATANA_REQUIRE(has_value());
    return value_;
  }
  const T& operator*() const { return value(); }
  T& operator*() {
    KATANA_REQUIRE(has_value());
    return value_;
  }
  const T* operator->() const { return &value(); }
  // Replaces the state by a default-constructed value.
  T& emplace() {
    clear();
    ::new (static_cast<void*>(&value_)) T();
    state_ = State::value;
    return value_;
  }

  // Applies the patch to `member`. Absent: `member` stays unchanged. Null: it becomes empty, which
  // REQUIRES a std::optional. Value: it becomes the value. If `member` is a described struct of
  // another type than T, the value is applied to its members.
  template <class M>
  void apply_to(M& member) const;

  // Not defaulted: a default would look for the operator of T, which may still be incomplete.
  friend bool operator==(const Patch& one, const Patch& other) {
    if (one.state_ != other.state_) return false;
    return !one.has_value() || one.value_ == other.value_;
  }

 private:
  enum class State : unsigned char { absent, null, value };

  constexpr void clear() noexcept {
    if (state_ == State::value) value_.~T();
    state_ = State::absent;
  }
  // REQUIRES that there is no value.
  void copy(const Patch& other) {
    if (other.has_value()) ::new (static_cast<void*>(&value_)) T(other.value_);
    state_ = other.state_;
  }
  void move(Patch& other) noexcept {
    if (other.has_value()) ::new (static_cast<void*>(&value_)) T(std::move(other.value_));
    state_ = other.state_;
  }

  union {
    char nothing_;
    T value_;
  };
  State state_ = State::absent;
};

namespace detail {

// The index of T's member of that name; field_count<T> if there is none.
template <Described T>
consteval std::size_t index_of(Bytes name) {
  std::size_t at = 0, found = field_count<T>;
  for_each_field<T>([&](const auto& field) {
    if (field.name == name) found = at;
    ++at;
  });
  return found;
}

}  // namespace detail

// Applies each member of `patch` to the member of `target` with the same name. It does not compile
// if `target` has no such member, or if a member that may become null is no std::optional. A
// std::optional in the patch changes `target` only if it has a value. A member of another type is
// always copied. The rules of `target` are not checked: use check(target, …).
template <Described P, Described T>
void apply_patch(const P& patch, T& target) {
  for_each_index<P>([&](auto index) {
    constexpr const auto& field = field_of<P, index>;
    constexpr std::size_t place = detail::index_of<T>(field.name);
    static_assert(place < field_count<T>, "the target has no member of the name in the patch");
    const auto& change = patch.*field.pointer;
    auto& member = target.*field_of<T, place>.pointer;
    using Change = std::remove_cvref_t<decltype(change)>;
    using Target = std::remove_cvref_t<decltype(member)>;
    if constexpr (is_patch<Change>) {
      static_assert(is_optional<Target> || field.rules.not_null,
                    "a member that may become null is a std::optional, or the patch's is not_null");
      change.apply_to(member);
    } else if constexpr (is_optional<Change>) {
      if (change) Patch<WithoutOptional<Change>>(*change).apply_to(member);
    } else {
      member = change;
    }
  });
}

template <class T>
template <class M>
void Patch<T>::apply_to(M& member) const {
  if (is_absent()) return;
  if constexpr (is_optional<M>) {
    if (is_null()) {
      member = std::nullopt;
    } else if constexpr (std::is_assignable_v<M&, const T&>) {
      member = value_;
    } else {
      apply_patch(value_, member ? *member : member.emplace());
    }
  } else {
    KATANA_REQUIRE(!is_null());
    if constexpr (std::is_assignable_v<M&, const T&>) {
      member = value_;
    } else {
      apply_patch(value_, member);
    }
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
