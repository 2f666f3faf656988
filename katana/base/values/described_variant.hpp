// Described variants: a value is one of several described structs. A member with the name of the
// struct tells them apart: the discriminator.
//
//   struct Circle { double radius = 0; };
//   KATANA_DESCRIBE(Circle, radius)
//   struct Square { double side = 0; };
//   KATANA_DESCRIBE(Square, side)
//
//   using Shape = std::variant<Circle, Square>;
//   KATANA_DESCRIBE_VARIANT(Shape, "kind", (Circle, "circle"), (Square, "square"))
//
//   {"kind":"circle","radius":2}
//
// Use the macro in the namespace of one of the structs. A Shape may be a member of a described
// struct, also in lists, dictionaries and std::optional. JSON, MessagePack and OpenAPI (oneOf with
// a discriminator) take it. The discriminator is no member of the structs. It may stand at any
// place in the object.
//
// Owns       nothing: names are literals.
// Thread     any.
// Allocates  never.
// Fails      An alternative that is left out, named twice or not described does not compile.
//            Neither does one that has a member with the name of the discriminator.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "katana/base/values/described.hpp"

namespace katana {

// The names of the alternatives of a std::variant. KATANA_DESCRIBE_VARIANT makes it.
template <std::size_t count>
struct VariantDescription {
  Bytes discriminator;             // name of the member that has the alternative's name
  std::array<Bytes, count> names;  // in the order of the variant
};

namespace rules {

// One `(Type, "name")` of KATANA_DESCRIBE_VARIANT.
template <class A>
struct Alternative {
  Bytes name;  // value of the discriminator
};
// Called by KATANA_DESCRIBE_VARIANT.
template <class A>
consteval Alternative<A> alternative(const char* name) {
  static_assert(Described<A>, "an alternative is a described struct (KATANA_DESCRIBE)");
  return {name};
}

// True if A describes a member of this name. The discriminator must not be one.
template <class A>
constexpr bool has_member(Bytes name) {
  bool found = false;
  for_each_field<A>([&](const auto& field) { found = found || field.name == name; });
  return found;
}

// Called by KATANA_DESCRIBE_VARIANT. Names that repeat do not compile.
template <class V, class... A>
consteval VariantDescription<sizeof...(A)> alternatives(const char* discriminator,
                                                        Alternative<A>... given) {
  static_assert(std::variant_size_v<V> == sizeof...(A), "as many alternatives as the variant has");
  VariantDescription<sizeof...(A)> description{discriminator, {}};
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    const auto name_of = [&]<class Wanted>(std::type_identity<Wanted>) {
      Bytes name;
      ((std::is_same_v<A, Wanted> ? void(name = given.name) : void()), ...);
      if (name.empty()) throw "alternatives: one of the variant's is left out, or has no name";
      if (has_member<Wanted>(discriminator)) throw "alternatives: a member is the discriminator";
      return name;
    };
    ((description.names[index] =
          name_of(std::type_identity<std::variant_alternative_t<index, V>>())),
     ...);
  }(std::index_sequence_for<A...>());
  for (std::size_t one = 0; one < sizeof...(A); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (description.names[one] == description.names[other]) {
        throw "alternatives: two have one name";
      }
    }
  }
  return description;
}

}  // namespace rules

// The VariantDescription of V.
template <DescribedVariant V>
inline constexpr auto alternatives_of = katana_alternatives(static_cast<const V*>(nullptr));

// Calls visit(std::integral_constant<std::size_t, index>) for each alternative.
template <DescribedVariant V, class Visit>
constexpr void for_each_alternative(Visit&& visit) {
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (visit(std::integral_constant<std::size_t, index>()), ...);
  }(std::make_index_sequence<std::variant_size_v<V>>());
}

// The names for a message: "one of circle, square".
template <DescribedVariant V>
std::string alternative_choices() {
  std::string words = "one of ";
  Bytes separator;
  for (const Bytes name : alternatives_of<V>.names) {
    words.append(separator).append(name);
    separator = ", ";
  }
  return words;
}

}  // namespace katana

// Describes a std::variant; see above. Use it in the namespace of one of its alternatives.
#define KATANA_DESCRIBE_VARIANT(Variant, discriminator, ...)                                      \
  [[maybe_unused]] constexpr auto katana_alternatives(const Variant*) {                           \
    return ::katana::rules::alternatives<Variant>(                                                \
        discriminator, KATANA_DETAIL_EXPAND(                                                      \
                           KATANA_DETAIL_EACH(KATANA_DETAIL_ALTERNATIVE, Variant, __VA_ARGS__))); \
  }
#define KATANA_DETAIL_ALTERNATIVE(Variant, entry) KATANA_DETAIL_ALTERNATIVE_OF entry
#define KATANA_DETAIL_ALTERNATIVE_OF(Struct, name) ::katana::rules::alternative<Struct>(name)

// SPDX-License-Identifier: Apache-2.0
