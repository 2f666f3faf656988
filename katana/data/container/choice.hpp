// Choice: chooses the type of a katana::AnyOf (base/values/any_of.hpp) for a value before it is
// read. The kind of the value decides, and for objects the names and kinds of their members:
// docs/decisions/0166-alternatives-are-chosen-by-names-and-kinds.md.
//
// Thread     a value.
// Allocates  words for a finding.
// Fails      alternatives that cannot be told apart do not compile.
// Invariant  the content of members is not examined. The work therefore does not grow with the
//            number of alternatives at each depth.
#pragma once

#include <array>
#include <bitset>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/values/any_of.hpp"
#include "katana/base/values/box.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/described_variant.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container::detail {

// The members that an object has.
template <Described T>
using Seen = std::bitset<field_count<T> + 1>;

// The members that an object must have.
template <Described T>
inline constexpr auto required_names = [] {
  std::array<bool, field_count<T> + 1> required{};
  std::size_t index = 0;
  for_each_field<T>([&](const auto& field) { required[index++] = field.required(); });
  return required;
}();

// A set of kinds, with one bit for each.
using Kinds = std::uint16_t;
constexpr Kinds kinds_of(Kind kind) noexcept {
  return static_cast<Kinds>(1u << static_cast<unsigned>(kind));
}

// Visits the members of an object before the object is read.
class MemberVisitor {
 public:
  // `found` is the set of kinds as which the value may be read. It is one kind, or several in a
  // form, or none if the value is malformed. `text` is the text of a text value. False: stop.
  virtual bool visit(Bytes name, Kinds found, Bytes text) = 0;

 protected:
  ~MemberVisitor() = default;
};

// The kinds that a value of the type may have in the input.
template <class T>
constexpr Kinds kinds() noexcept {
  if constexpr (is_optional<T>) {
    return kinds_of(Kind::null) | kinds<WithoutOptional<T>>();
  } else if constexpr (is_box<T>) {
    return kinds<typename T::element_type>();
  } else if constexpr (is_any_of<T>) {
    Kinds all = 0;
    for_each_type<T>([&all]<class A>(std::type_identity<A>) { all |= kinds<A>(); });
    return all;
  } else if constexpr (std::same_as<T, Value>) {
    return static_cast<Kinds>(~0u);
  } else if constexpr (std::same_as<T, bool>) {
    return kinds_of(Kind::boolean);
  } else if constexpr (NumberMember<T>) {
    const Kinds whole = kinds_of(Kind::integer) | kinds_of(Kind::natural);
    return std::floating_point<T> ? whole | kinds_of(Kind::real) : whole;
  } else if constexpr (BytesMember<T>) {
    return kinds_of(Kind::text) | kinds_of(Kind::octets);
  } else if constexpr (TextMember<T> || DescribedEnum<T>) {
    return kinds_of(Kind::text);
  } else if constexpr (TextFormed<T>) {
    const Kinds numbers = kinds_of(Kind::integer) | kinds_of(Kind::natural) | kinds_of(Kind::real);
    return kinds_of(Kind::text) | (reads_numbers<T>() ? numbers : 0);
  } else if constexpr (Described<T> || DescribedVariant<T> || DictionaryMember<T>) {
    return kinds_of(Kind::object);
  } else {
    static_assert(ListMember<T>, "no alternative of a katana::AnyOf: describe this type");
    return kinds_of(Kind::list);
  }
}

// The quality of the match of an object with a type.
struct ObjectFit {
  bool fits = true;
  std::size_t known = 0;
  std::size_t unknown = 0;

  bool is_better_than(const ObjectFit& other) const noexcept {
    if (fits != other.fits) return fits;
    return fits ? unknown < other.unknown : known > other.known;
  }
};

template <class T>
struct Unboxed {
  using Type = T;
};
template <class T>
struct Unboxed<Box<T>> {
  using Type = T;
};

struct NothingSeen {};
template <class T>
struct SeenMembers {
  using Type = NothingSeen;
};
template <Described T>
struct SeenMembers<T> {
  using Type = Seen<T>;
};

// Computes the match with one type, which is no Box.
template <class T>
class FitOf {
 public:
  void see(Bytes name, Kinds found, Bytes text) {
    if constexpr (Described<T>) {
      see_field(name, found, text);
    } else if constexpr (DescribedVariant<T>) {
      constexpr const auto& description = alternatives_of<T>;
      if (name != description.discriminator) return;
      names_one_ = false;
      for (const Bytes each : description.names) names_one_ = names_one_ || each == text;
      count(names_one_);
    } else if constexpr (DictionaryMember<T>) {
      count(false);
      see_value<ElementOf<T>>(kinds<ElementOf<T>>(), found, text);
    }
  }

  ObjectFit fit() const noexcept {
    ObjectFit fit = fit_;
    if constexpr (Described<T>) {
      for_each_index<T>([&](auto index) {
        if (required_names<T>[index] && !seen_[index]) fit.fits = false;
      });
    } else if constexpr (DescribedVariant<T>) {
      if (!names_one_) fit.fits = false;
    }
    return fit;
  }

 private:
  void count(bool is_known) noexcept { ++(is_known ? fit_.known : fit_.unknown); }

  void see_field(Bytes name, Kinds found, Bytes text) {
    bool is_known = false;
    for_each_index<T>([&](auto index) {
      constexpr const auto& field = field_of<T, index>;
      if (is_known || name != field.name) return;
      is_known = true;
      seen_.set(index);
      using M = MemberOf<decltype(field)>;
      const Kinds null = field.rules.not_null ? kinds_of(Kind::null) : Kinds{0};
      see_value<M>(static_cast<Kinds>(kinds<M>() & ~null), found, text);
    });
    count(is_known);
    if (!is_known && unknown_names<T> == UnknownNames::refuse) fit_.fits = false;
  }
  template <class M>
  void see_value(Kinds wanted, Kinds found, Bytes text) {
    if ((wanted & found) == 0) fit_.fits = false;
    using Content = WithoutOptional<M>;
    if constexpr (DescribedEnum<Content>) {
      const bool is_text = (found & kinds_of(Kind::text)) != 0;
      if (is_text && !enumerator_from<Content>(text)) fit_.fits = false;
    }
  }

  ObjectFit fit_;
  bool names_one_ = false;  // variant: the discriminator has the name of an alternative
  [[no_unique_address]] typename SeenMembers<T>::Type seen_ = {};
};

// Computes the match of an object with each alternative.
template <class T>
class ObjectChoice;
template <class... A>
class ObjectChoice<AnyOf<A...>> final : public MemberVisitor {
 public:
  bool visit(Bytes name, Kinds found, Bytes text) override {
    std::apply([&](auto&... fit) { (fit.see(name, found, text), ...); }, fits_);
    return true;
  }
  // The index of the alternative with the best match.
  std::size_t best() const noexcept {
    constexpr std::array<Kinds, sizeof...(A)> kinds_of_each{kinds<A>()...};
    std::array<ObjectFit, sizeof...(A)> fits;
    std::apply(
        [&fits](const auto&... fit) {
          std::size_t index = 0;
          ((fits[index++] = fit.fit()), ...);
        },
        fits_);
    std::size_t best = sizeof...(A);
    for (std::size_t index = 0; index < sizeof...(A); ++index) {
      if ((kinds_of_each[index] & kinds_of(Kind::object)) == 0) continue;
      if (best == sizeof...(A) || fits[index].is_better_than(fits[best])) best = index;
    }
    return best;
  }

 private:
  std::tuple<FitOf<typename Unboxed<A>::Type>...> fits_;
};

// Calls visit(std::integral_constant<std::size_t, index>) for each alternative of an AnyOf.
template <class T, class Visit>
constexpr void for_each_choice(Visit&& visit) {
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (visit(std::integral_constant<std::size_t, index>()), ...);
  }(std::make_index_sequence<T::alternative_count>());
}
template <class T, std::size_t index>
using ChoiceOf = typename T::template Alternative<index>;

// The number of alternatives that have one of these kinds.
template <class T>
consteval std::size_t count_choices(Kinds wanted) {
  std::size_t count = 0;
  for_each_type<T>(
      [&]<class A>(std::type_identity<A>) { count += (kinds<A>() & wanted) != 0 ? 1 : 0; });
  return count;
}

template <class T>
consteval bool can_be_chosen() {
  std::size_t integers = 0, lists = 0, dictionaries = 0;
  for_each_type<T>([&]<class A>(std::type_identity<A>) {
    static_assert(!is_optional<A>, "no alternative of a katana::AnyOf is optional: AnyOf may be");
    static_assert(!is_any_of<A>, "a katana::AnyOf has the alternatives of one within it itself");
    static_assert(!std::same_as<A, Value>, "a katana::AnyOf with any value is container::Value");
    integers += std::integral<A> && !std::same_as<A, bool> ? 1 : 0;
    lists += kinds<A>() == kinds_of(Kind::list) ? 1 : 0;
    dictionaries += DictionaryMember<A> ? 1 : 0;
  });
  return integers <= 1 && lists <= 1 && dictionaries <= 1 &&
         count_choices<T>(kinds_of(Kind::real)) <= 1 &&
         (count_choices<T>(kinds_of(Kind::octets)) == 0 ||
          count_choices<T>(kinds_of(Kind::text)) == 1);
}

// The kinds for a message: "string, integer or object".
template <class T>
std::string choice_words() {
  constexpr std::array<std::pair<Kind, Bytes>, 6> words{{{Kind::boolean, "boolean"},
                                                         {Kind::integer, "integer"},
                                                         {Kind::real, "number"},
                                                         {Kind::text, "string"},
                                                         {Kind::list, "array"},
                                                         {Kind::object, "object"}}};
  std::vector<Bytes> wanted;
  for (const auto& [kind, word] : words) {
    const bool any_number = kind == Kind::integer && count_choices<T>(kinds_of(Kind::real)) != 0;
    if ((kinds<T>() & kinds_of(kind)) != 0 && !any_number) wanted.push_back(word);
  }
  std::string all;
  for (std::size_t index = 0; index < wanted.size(); ++index) {
    if (index != 0) all += index + 1 == wanted.size() ? " or " : ", ";
    all += wanted[index];
  }
  return all;
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
