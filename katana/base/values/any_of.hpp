// AnyOf<A, B, …>: a value of one of several types that does not name its type, as `oneOf` and
// `anyOf` without a discriminator. (With one: KATANA_DESCRIBE_VARIANT, described_variant.hpp.)
//
//   struct Card { std::string number; };
//   struct Account { std::string iban; };
//   using Source = AnyOf<std::string, Card, Account>;
//
//   "tok_1"   {"number":"4242"}   {"iban":"DE02…"}
//
//   if (const Card* card = source.get_if<Card>()) …
//   source.visit([](const auto& each) { … });
//
// JSON, MessagePack, the binary format and OpenAPI (anyOf) take it, also as a member of described
// structs, in lists and in dictionaries. A reader chooses the type by the input:
//
//   the kind of value    boolean, number, text, bytes, array, object
//   numbers              the integer type for a number without a fraction, else the floating one
//   text                 the first type that accepts it: an enumerator, a TextForm, a string
//   objects              by the names and kinds of members, not by their content. The reader takes
//                        the first matching type that lacks the fewest names of the object. If no
//                        type matches, the errors are those of the type that has most of its
//                        names.
//
// Owns       its value.
// Thread     a value.
// Allocates  as its value does.
// Fails      These alternatives do not compile: std::optional or Patch; the same type twice; two
//            integers or two floating numbers; two lists or two dictionaries. Bytes together with
//            text do not compile either, because bytes are text in JSON.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "katana/base/values/rules.hpp"

namespace katana {

// A value of one of the types A…. A std::variant would ask of each type at once whether it can be
// copied trivially. The compiler then compiles the copies of all its members. An AnyOf compiles
// only what a program uses: decision 0197.
template <class... A>
class AnyOf {
 public:
  // The number of alternatives.
  static constexpr std::size_t alternative_count = sizeof...(A);
  static_assert(alternative_count > 0 && alternative_count < 256, "1 to 255 alternatives");
  // The alternative with this index, from 0.
  template <std::size_t index>
  using Alternative = std::tuple_element_t<index, std::tuple<A...>>;

  // Holds a default-constructed value of the first alternative.
  AnyOf() { construct<0>(); }
  // Holds `value`, whose type must be exactly that of an alternative.
  template <class T>
    requires(std::same_as<std::remove_cvref_t<T>, A> || ...)
  AnyOf(T&& value) {  // NOLINT: implicit, as std::variant's
    construct<index_of<std::remove_cvref_t<T>>>(std::forward<T>(value));
  }
  // Holds a std::string, if that is an alternative.
  AnyOf(const char* text)  // NOLINT
    requires(std::same_as<std::string, A> || ...)
  {
    construct<index_of<std::string>>(text);
  }
  AnyOf(const AnyOf& other) {
    other.at_index([&](auto index) { construct<index>(other.get<index>()); });
  }
  // REQUIRES alternatives whose move does not throw: else the program terminates.
  AnyOf(AnyOf&& other) noexcept { move(other); }
  AnyOf& operator=(const AnyOf& other) {
    if (this != &other) *this = AnyOf(other);
    return *this;
  }
  AnyOf& operator=(AnyOf&& other) noexcept {
    if (this == &other) return *this;
    clear();
    move(other);
    return *this;
  }
  ~AnyOf() { clear(); }

  // The index of the alternative in the order of the template's arguments.
  std::size_t index() const noexcept { return index_; }
  template <class T>
  bool holds() const noexcept {
    return index_ == index_of<T>;
  }
  // The value of alternative T; null: it holds another alternative.
  template <class T>
  const T* get_if() const noexcept {
    return holds<T>() ? &get<index_of<T>>() : nullptr;
  }
  template <class T>
  T* get_if() noexcept {
    return holds<T>() ? &get<index_of<T>>() : nullptr;
  }
  // Returns visit(value), which must have the same type for all alternatives.
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    return visit_from<0>(*this, visit);
  }
  template <class Visit>
  decltype(auto) visit(Visit&& visit) {
    return visit_from<0>(*this, visit);
  }
  // Replaces the value by a default-constructed one of alternative T.
  template <class T>
  T& emplace() {
    return emplace_at<index_of<T>>();
  }
  // The same for the alternative with this index.
  template <std::size_t index>
  auto& emplace_at() {
    AnyOf made{std::in_place_index<index>};
    *this = std::move(made);
    return get<index>();
  }
  // The value. REQUIRES index() == index.
  template <std::size_t index>
  const Alternative<index>& get() const noexcept {
    return *std::launder(reinterpret_cast<const Alternative<index>*>(storage_));
  }
  template <std::size_t index>
  Alternative<index>& get() noexcept {
    return *std::launder(reinterpret_cast<Alternative<index>*>(storage_));
  }

  // Not defaulted: g++ would compare literal types at once, to find out whether it is constexpr.
  friend bool operator==(const AnyOf& one, const AnyOf& other) {
    if (one.index_ != other.index_) return false;
    bool equal = false;
    one.at_index(
        [&](auto index) { equal = one.template get<index>() == other.template get<index>(); });
    return equal;
  }

 private:
  template <std::size_t index>
  explicit AnyOf(std::in_place_index_t<index>) {
    construct<index>();
  }

  template <class T>
  static constexpr std::size_t index_of = [] {
    std::size_t index = 0;
    (void)((std::is_same_v<T, A> || (++index, false)) || ...);
    return index;
  }();

  template <std::size_t index, class... Arguments>
  void construct(Arguments&&... arguments) {
    ::new (static_cast<void*>(storage_)) Alternative<index>(std::forward<Arguments>(arguments)...);
    index_ = static_cast<unsigned char>(index);
  }
  void move(AnyOf& other) noexcept {
    other.at_index([&](auto index) { construct<index>(std::move(other.template get<index>())); });
  }
  void clear() noexcept {
    at_index([&](auto index) {
      using T = Alternative<index>;
      get<index>().~T();
    });
  }
  // Calls visit(std::integral_constant<std::size_t, index()>()).
  template <class Visit>
  void at_index(Visit&& visit) const {
    [&]<std::size_t... each>(std::index_sequence<each...>) {
      (void)((index_ == each && (visit(std::integral_constant<std::size_t, each>()), true)) || ...);
    }(std::index_sequence_for<A...>());
  }
  template <std::size_t index, class Self, class Visit>
  static decltype(auto) visit_from(Self& self, Visit& visit) {
    if constexpr (index + 1 < sizeof...(A)) {
      if (self.index_ != index) return visit_from<index + 1>(self, visit);
    }
    return visit(self.template get<index>());
  }

  static constexpr std::size_t size_max = [] {
    std::size_t most = 0;
    ((most = sizeof(A) > most ? sizeof(A) : most), ...);
    return most;
  }();

  alignas(A...) std::byte storage_[size_max];
  unsigned char index_;
};

// Calls visit(std::type_identity<A>()) for each alternative of T, an AnyOf.
template <class T, class Visit>
constexpr void for_each_type(Visit&& visit) {
  [&]<class... A>(std::type_identity<AnyOf<A...>>) {
    (visit(std::type_identity<A>()), ...);
  }(std::type_identity<T>());
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
