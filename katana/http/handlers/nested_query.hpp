// NestedQuery<T>: the query as the members of T, which may be objects and lists of them. The names
// have brackets, as in deepObject of OpenAPI, and as jQuery, PHP, Rails and qs send them:
//
//   ?created[gte]=5&items[0][price]=7&tags[]=new&tags[]=used&limit=20
//
//   struct Search {
//     std::optional<AnyOf<Range, std::int64_t>> created;
//     std::vector<Item> items;
//     std::vector<std::string> tags;
//     int limit = 10;
//   };
//
// A member whose name itself has brackets ("ids[]") takes that name. Lists that katana_separators()
// names (base/values/separators.hpp) are one text. A dictionary with own_names takes what no other
// member takes. Its own name with brackets is such a name. data/container/form_read.hpp says how
// texts are read; everything else is as in Query<T>. NestedForm<T> (http/forms/nested_form.hpp)
// does the same for a form.
//
// Owns       its value.
// Thread     its reactor's.
// Allocates  a tree of all names and values, for the call, and what the members need.
// Fails      400 with all values that do not fit, each with the name that was sent. The first
//            mistake of the tree is told alone: wrong escapes or brackets, or too many values.
// Invariant  at most 1,000 values, and at most 16 brackets in a name
//            (data/container/form_tree.hpp).
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/values/separators.hpp"
#include "katana/data/container/form_read.hpp"
#include "katana/http/handlers/extract.hpp"

namespace katana {

// The query as the members of T, by names with brackets.
template <Described T>
struct NestedQuery {
  T value;  // also *query, query->
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace detail {

// Functions that know the names of a described struct.
struct NestedNames {
  bool (*is_member)(Bytes name);  // then its brackets are part of it
  char (*separator)(Bytes name);  // base/values/separators.hpp
  Bytes own;  // the dictionary of names that no member has; empty: there is none
};
template <Described T>
inline constexpr NestedNames nested_names_of{
    [](Bytes name) {
      bool is_member = false;
      for_each_field<T>([&](const auto& field) { is_member |= field.name == name; });
      return is_member;
    },
    [](Bytes name) { return separator_of<T>(name); }, own_names_of<T>()};

// Adds the pairs of a query, or of a form of that kind. Returns nothing if all were added, and
// otherwise a refusal with the first mistake.
std::optional<Refusal> add_nested_pairs(container::FormTree& tree, Bytes pairs, const char* kind,
                                        const NestedNames& names);
// Adds one name and its value, without escapes, in the same way.
std::optional<Refusal> add_nested(container::FormTree& tree, Bytes name, container::FormLeaf leaf,
                                  const char* kind, const NestedNames& names);

template <Described T>
std::expected<T, Refusal> read_nested(const container::FormTree& tree, const char* kind) {
  std::expected<T, Refusal> value{std::in_place};
  container::Findings findings;
  if (!container::read_form(tree, *value, findings)) {
    return std::unexpected(refuse_parameters(findings, kind, own_names_of<T>()));
  }
  return value;
}

template <class T>
struct Extractor<NestedQuery<T>> {
  static std::expected<NestedQuery<T>, Refusal> from(const RequestView& request, std::size_t) {
    constexpr const char* kind = "query parameter";
    container::FormTree tree;
    if (auto refused = add_nested_pairs(tree, request.query(), kind, nested_names_of<T>)) {
      return std::unexpected(*std::move(refused));
    }
    auto value = read_nested<T>(tree, kind);
    if (!value) return std::unexpected(std::move(value.error()));
    return NestedQuery<T>{*std::move(value)};
  }
};

// Whether a member at any depth is marked secret. Deeper levels than `depth` count as secret,
// because a type may contain itself.
template <class T, int depth = 4>
consteval bool has_secrets() {
  bool found = false;
  const auto look = [&found]<class A>(std::type_identity<A>) {
    found = found || has_secrets<A, depth - 1>();
  };
  if constexpr (is_optional<T>) {
    return has_secrets<WithoutOptional<T>, depth>();
  } else if constexpr (TextMember<T> || BytesMember<T> || TextFormed<T> ||
                       std::is_arithmetic_v<T>) {
    return false;
  } else if constexpr (depth == 0) {
    return true;
  } else if constexpr (Described<T>) {
    for_each_field<T>([&](const auto& field) {
      found = found || field.rules.secret;
      look(std::type_identity<MemberOf<decltype(field)>>());
    });
  } else if constexpr (is_any_of<T>) {
    for_each_type<T>(look);
  } else if constexpr (DescribedVariant<T>) {
    [&]<class... A>(std::type_identity<std::variant<A...>>) {
      (look(std::type_identity<A>()), ...);
    }(std::type_identity<T>());
  } else if constexpr (is_box<T>) {
    look(std::type_identity<typename T::element_type>());
  } else if constexpr (DictionaryMember<T> || ListMember<T>) {
    look(std::type_identity<ElementOf<T>>());
  }
  return found;
}

template <class T>
struct SecretsOf<NestedQuery<T>> {
  static void add_to(std::vector<std::string>& names) {
    for_each_field<T>([&](const auto& field) {
      using M = MemberOf<decltype(field)>;
      if (field.rules.secret || has_secrets<M>()) names.emplace_back(field.name);
    });
  }
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
