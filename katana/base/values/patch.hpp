// Patch<T>: a member of a merge patch (RFC 7396), which keeps absent, null and a value apart.
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
// Of {"nickname":null} name is absent and nickname is null. Absent members are not written. Rules
// are those of a value that is there; not_null refuses null. JSON, MessagePack, forms and OpenAPI
// take it; a parameter of SQL and the binary format, which have no third state, do not compile.
//
// Owns       its value.
// Thread     a value.
// Allocates  what T does.
// Fails      value() and operator* REQUIRE a value.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/values/described.hpp"

namespace katana {

template <class T>
class Patch {
 public:
  using value_type = T;

  // Absent.
  Patch() noexcept = default;
  // Null.
  Patch(std::nullopt_t) noexcept : is_there_(true) {}  // NOLINT: implicit on purpose, as is
  Patch(T value) : value_(std::move(value)), is_there_(true) {}

  bool is_absent() const noexcept { return !is_there_; }  // the input does not name the member
  bool is_null() const noexcept { return is_there_ && !value_; }  // the input sets it to null
  bool has_value() const noexcept { return value_.has_value(); }  // the input has a value for it
  explicit operator bool() const noexcept { return has_value(); }

  // REQUIRES has_value().
  const T& value() const {
    KATANA_REQUIRE(value_.has_value());
    return *value_;
  }
  const T& operator*() const { return value(); }
  T& operator*() {
    KATANA_REQUIRE(value_.has_value());
    return *value_;
  }
  const T* operator->() const { return &value(); }
  // Replaces the state by a default-constructed value.
  T& emplace() {
    is_there_ = true;
    return value_.emplace();
  }

  // Absent: `member` stays. Null: it becomes empty, which REQUIRES a std::optional. Otherwise it
  // becomes the value; a described struct that is no `T` has the value applied to its members.
  template <class M>
  void apply_to(M& member) const;

  // Not by default: that looks for the operator of a T which may be incomplete yet.
  friend bool operator==(const Patch& one, const Patch& other) {
    return one.is_there_ == other.is_there_ && one.value_ == other.value_;
  }

 private:
  std::optional<T> value_;
  bool is_there_ = false;
};

namespace detail {

// Where T has the member of that name; its number of members: nowhere.
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

// Changes the members of `target` that have the names of those of `patch`. Does not compile when
// there is none of a name, or when one that may be null is no std::optional. A member of the patch
// that is a std::optional changes what it holds; one that is neither is always copied. Whether the
// members of `target` fit together afterwards is not checked; rules are by check(target, …).
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
      member = *value_;
    } else {
      apply_patch(*value_, member ? *member : member.emplace());
    }
  } else {
    KATANA_REQUIRE(!is_null());
    if constexpr (std::is_assignable_v<M&, const T&>) {
      member = *value_;
    } else {
      apply_patch(*value_, member);
    }
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
