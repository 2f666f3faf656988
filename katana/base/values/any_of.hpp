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
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "katana/base/values/rules.hpp"

namespace katana {

// A value of one of the types A….
template <class... A>
class AnyOf {
 public:
  // The type that holds the value.
  using Variant = std::variant<A...>;

  // Holds a default-constructed value of the first alternative.
  AnyOf() = default;
  // Holds `value`, whose type must be exactly that of an alternative.
  template <class T>
    requires(std::same_as<std::remove_cvref_t<T>, A> || ...)
  AnyOf(T&& value) : variant_(std::forward<T>(value)) {}  // NOLINT: implicit, as std::variant's
  // Holds a std::string, if that is an alternative.
  AnyOf(const char* text)  // NOLINT
    requires(std::same_as<std::string, A> || ...)
      : variant_(std::string(text)) {}

  // The index of the alternative in the order of the template's arguments.
  std::size_t index() const noexcept { return variant_.index(); }
  template <class T>
  bool holds() const noexcept {
    return std::holds_alternative<T>(variant_);
  }
  // The value of alternative T; null: it holds another alternative.
  template <class T>
  const T* get_if() const noexcept {
    return std::get_if<T>(&variant_);
  }
  template <class T>
  T* get_if() noexcept {
    return std::get_if<T>(&variant_);
  }
  // Returns visit(value), which must have the same type for all alternatives.
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    return std::visit(std::forward<Visit>(visit), variant_);
  }
  // Replaces the value by a default-constructed one of alternative T.
  template <class T>
  T& emplace() {
    return variant_.template emplace<T>();
  }

  // The variant, for std::visit and std::get.
  const Variant& variant() const noexcept { return variant_; }
  Variant& variant() noexcept { return variant_; }

  // Not defaulted: g++ would compare literal types at once, to find out whether it is constexpr.
  friend bool operator==(const AnyOf& one, const AnyOf& other) {
    return one.variant_ == other.variant_;
  }

 private:
  Variant variant_;
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
