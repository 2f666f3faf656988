// AnyOf<A, B, …>: a value of one of several types that does not say which: what `oneOf` and `anyOf`
// without a discriminator describe. (With one: KATANA_DESCRIBE_VARIANT, described_variant.hpp.)
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
// structs, in lists and in dictionaries. A reader chooses by what stands there:
//
//   the kind of value    boolean, number, text, bytes, array, object
//   numbers              the integer type for what has no fraction, else the floating one
//   text                 the first type that has it: an enumerator, a TextForm, a string
//   objects              by the names and kinds of members, not by what is inside of them: of the
//                        types that may be it, the one that does not know the fewest of its names,
//                        the first of these. When there is none, the errors are those of the
//                        type that knows most of its names.
//
// Owns       its value.
// Thread     a value.
// Allocates  what its value does.
// Fails      does not compile: alternatives that are std::optional or Patch, one twice, more than
//            one of numbers with and without a fraction each, of lists and dictionaries, and bytes
//            beside text, which they are in JSON.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "katana/base/values/rules.hpp"

namespace katana {

// One of A…, which it does not name.
template <class... A>
class AnyOf {
 public:
  // What holds it.
  using Variant = std::variant<A...>;

  // The first alternative, made by default.
  AnyOf() = default;
  // Of the type of an alternative, without conversions.
  template <class T>
    requires(std::same_as<std::remove_cvref_t<T>, A> || ...)
  AnyOf(T&& value) : variant_(std::forward<T>(value)) {}  // NOLINT: implicit, as std::variant's
  // Of text, where one alternative is std::string.
  AnyOf(const char* text)  // NOLINT
    requires(std::same_as<std::string, A> || ...)
      : variant_(std::string(text)) {}

  // Which alternative, in the order of the template's arguments.
  std::size_t index() const noexcept { return variant_.index(); }
  template <class T>
  bool holds() const noexcept {
    return std::holds_alternative<T>(variant_);
  }
  // Null: it is another alternative.
  template <class T>
  const T* get_if() const noexcept {
    return std::get_if<T>(&variant_);
  }
  template <class T>
  T* get_if() noexcept {
    return std::get_if<T>(&variant_);
  }
  // What visit(value) gives, which is of one type for all alternatives.
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    return std::visit(std::forward<Visit>(visit), variant_);
  }
  // A new value of that alternative, made by default.
  template <class T>
  T& emplace() {
    return variant_.template emplace<T>();
  }

  // For std::visit and std::get.
  const Variant& variant() const noexcept { return variant_; }
  Variant& variant() noexcept { return variant_; }

  // Not defaulted: g++ would compare literal types at once, to know whether it is constexpr.
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
