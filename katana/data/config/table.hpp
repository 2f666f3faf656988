// Tables: the description of a struct as constants, which code without templates can walk. The
// reader, the printer, the writer of schemas and the comparison of a reload are compiled once. The
// compiler makes only one table and one function for each struct.
//
//   const Type& type = type_of<Http>();
//   type.group->members[1].name                    "port"
//   type.group->members[1].type().scalar->read     reads a std::uint16_t
//   Places(*type.group, &http)[1]                  &http.port
//
// A row has the name of a member, its help, the table of its type and its rules. It refers to that
// table by a function. A table in another source file therefore costs nothing here
// (KATANA_CONFIG_DECLARE_GROUP, compiled_group.hpp).
//
//   Type        kind          what else it has
//   scalar      one text      a ScalarType: reads, writes and names what it takes
//   group       a struct      a Group: a row for each member, and the addresses of the members
//   list        std::vector   a Container: adds, visits and removes elements
//   dictionary  std::map      a Container, with the key of each element
//   optional    std::optional a Container of at most one element
//
// Owns       nothing: tables are constants, and names are literals.
// Borrows    a value as void*. REQUIRES that it is of the table's type.
// Thread     any.
// Allocates  for elements and words; a table allocates nothing.
// Fails      a type that a configuration cannot have does not compile.
// Invariant  rows stand in the order of the description, one for each described member.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/data/config/scalar.hpp"
#include "katana/data/config/units.hpp"

namespace katana::config {

struct Type;

// The rules of one member, or of each element of a list or dictionary.
struct Said {
  const void* rules = nullptr;  // the katana::Rules that Type::broken and Container::each read
  bool required = false;        // a source must give a value
  bool secret = false;          // printed as ***
  bool reloadable = false;      // a reload may change it
  bool byte_count = false;      // read and written with a unit: 16KiB
  bool limited = false;         // a value can break the rules
};

// A row: one member of a described struct.
struct Member {
  Bytes name;             // the key
  Bytes help;             // one sentence, for printed defaults and the schema
  const Type& (*type)();  // table of the value's type
  Said said;              // the rules of this member
};

// A type that is written as one text in a configuration.
struct ScalarType {
  // Reads a value. Returns an empty text, or the words that follow "expected".
  std::string (*read)(const ScalarType& type, const Node& node, bool byte_count, void* value);
  std::string (*write)(const ScalarType& type, bool byte_count, const void* value);
  // The expected input: "true or false".
  std::string (*words)(const ScalarType& type);
  // The value of `type` in JSON Schema; empty: it is one of `names`.
  Bytes schema_type = {};
  // The enumerators of an enumeration, and its size in bytes.
  std::span<const EnumeratorValue> names = {};
  std::size_t size = 0;
};

// A function that is called with an element and, for a dictionary, its key. It refers to a function
// object that outlives the call.
class Visitor {
 public:
  template <class F>
  explicit Visitor(F& f) noexcept
      : f_(&f), call_([](void* called, Bytes key, void* element) {
          (*static_cast<F*>(called))(key, element);
        }) {}
  void operator()(Bytes key, void* element) const { call_(f_, key, element); }

 private:
  void* f_;
  void (*call_)(void* called, Bytes key, void* element);
};

// A function that is called with the name of a member and the words of its mistake. It refers to a
// function object that outlives the call.
class Told {
 public:
  template <class F>
  explicit Told(F& f) noexcept
      : f_(&f), call_([](void* called, Bytes member, Bytes words) {
          (*static_cast<F*>(called))(member, words);
        }) {}
  void operator()(Bytes member, Bytes words) const { call_(f_, member, words); }

 private:
  void* f_;
  void (*call_)(void* called, Bytes member, Bytes words);
};

// A list, a dictionary or an optional.
struct Container {
  const Type& (*element)();  // the type of its elements
  // Makes an element, calls `visit` with it, and then adds it behind the others, under `key`. A
  // null container: only calls `visit`.
  void (*make)(void* container, Bytes key, Visitor visit);
  // Calls `visit` with each element, in the order of the container.
  void (*visit)(void* container, Visitor visit);
  void (*clear)(void* container);
  // The rules for each element, from the rules of the container.
  Said (*each)(const void* rules);
};

// A described struct.
struct Group {
  std::span<const Member> members;  // in the order of the description
  UnknownNames unknown;             // treatment of a key that is no member
  // Writes the address of each member of `value`.
  void (*locate)(void* value, void** places);
  // Calls `tell` with the name of a member and the words for each rule across members that `value`
  // breaks. Null: there is none.
  void (*check_across)(const void* value, Told tell) = nullptr;
};

// The table of a type, for the reader, the printer and the schema.
struct Type {
  // The form of a value in a configuration. It tells which of the pointers below is set.
  enum class Kind : std::uint8_t { scalar, group, list, dictionary, optional };

  Kind kind;                             // kind of values of this type
  const ScalarType* scalar = nullptr;    // set for a scalar
  const Container* container = nullptr;  // set for a list, a dictionary or an optional
  const Group* group = nullptr;          // set for a group
  // The words for the mistake of a value; empty: it breaks none of `rules`.
  std::string (*broken)(const void* rules, const void* value, bool secret) = nullptr;
  void (*assign)(void* to, const void* from) = nullptr;  // null for a group

  // The type of the value in an optional; otherwise this type.
  const Type& without_optional() const noexcept {
    return kind == Kind::optional ? container->element() : *this;
  }
};

// The addresses of the members of a value, in the order of the rows.
class Places {
 public:
  Places(const Group& group, void* value) noexcept { group.locate(value, places_.data()); }
  void* operator[](std::size_t index) const noexcept { return places_[index]; }

 private:
  std::array<void*, described_members_max> places_;
};
// The same for a value that is only read.
class ConstPlaces {
 public:
  // The members are only read.
  ConstPlaces(const Group& group, const void* value) noexcept
      : places_(group, const_cast<void*>(value)) {}
  const void* operator[](std::size_t index) const noexcept { return places_[index]; }

 private:
  Places places_;
};

// The table of a type, a constant. A type that a configuration cannot have does not compile.
template <class T>
const Type& type_of();

namespace detail {

// ---- rows ----

template <class T>
constexpr Said said_of(const Rules<T>& rules) noexcept {
  return {.rules = &rules,
          .required = rules.presence == Presence::required,
          .secret = rules.secret,
          .reloadable = rules.reloadable,
          .byte_count = rules.byte_count,
          .limited = rules.check_value()};
}

template <class S, class M>
constexpr Member row_of(const DescribedField<S, M>& field) noexcept {
  return {field.name, field.rules.help, &type_of<M>, said_of(field.rules)};
}

using katana::detail::FieldAt;
using katana::detail::FieldList;

// The parts of the list are named by its type: a lookup of each by its index compiles more slowly.
template <std::size_t... index, class... Fields>
constexpr std::array<Member, sizeof...(Fields)> rows_of(
    const FieldList<std::index_sequence<index...>, Fields...>& list) noexcept {
  return {row_of(static_cast<const FieldAt<index, Fields>&>(list).field)...};
}

template <class T, std::size_t... index, class... Fields>
void locate_each(T& value, void** places,
                 const FieldList<std::index_sequence<index...>, Fields...>& list) noexcept {
  ((*places++ =
        std::addressof(value.*static_cast<const FieldAt<index, Fields>&>(list).field.pointer)),
   ...);
}
template <Described T>
void locate(void* value, void** places) noexcept {
  locate_each(*static_cast<T*>(value), places, description_of<T>.fields);
}

template <Described T>
void tell_across(const void* value, Told tell) {
  katana::check_across(*static_cast<const T*>(value),
                       [&](Bytes member, const std::string& words) { tell(member, words); });
}
template <Described T>
constexpr auto across_of() noexcept -> void (*)(const void*, Told) {
  if constexpr (RuledAcross<T>) return &tell_across<T>;
  return nullptr;
}

template <Described T>
inline constexpr auto rows_for = rows_of(description_of<T>.fields);
template <Described T>
inline constexpr Group group_for{.members = rows_for<T>,
                                 .unknown = unknown_names<T>,
                                 .locate = &locate<T>,
                                 .check_across = across_of<T>()};

// ---- rules and copies ----

// The type of a container's elements.
template <class T>
struct ContentOf {
  using Type = ElementOf<T>;
};
template <class T>
  requires is_optional<T>
struct ContentOf<T> {
  using Type = WithoutOptional<T>;
};

// The message "expected 10ms to 1h, got 1ms", with units that the reader accepts.
template <class T>
std::string broken_with_units(const Rules<T>& rules, const T& value) {
  const auto text = [&rules](const T& bound) { return write_counted(rules.byte_count, bound); };
  std::string words = "expected ";
  if (!rules.most) words += "at least ";
  if (!rules.least) words += "at most ";
  if (rules.least) words += text(*rules.least);
  if (rules.least && rules.most) words += " to ";
  if (rules.most) words += text(*rules.most);
  return words + ", got " + text(value);
}

// The words for the rule that `value` breaks; empty: it breaks none.
template <class T>
std::string broken(const void* rules, const void* value, bool secret) {
  Rules<T> said = *static_cast<const Rules<T>*>(rules);
  const T& is = *static_cast<const T*>(value);
  if (obeys(said, is)) return {};
  said.secret = secret;
  if constexpr (NumberMember<T> || std::same_as<T, Duration> || std::same_as<T, ByteCount>) {
    const bool has_units = !NumberMember<T> || said.byte_count;
    if (has_units && (said.least || said.most) && !secret) return broken_with_units(said, is);
  }
  return broken_rule(said, is);
}

template <class T>
void assign(void* to, const void* from) {
  *static_cast<T*>(to) = *static_cast<const T*>(from);
}

// ---- values of one text ----

std::string read_enumerator(const ScalarType& type, const Node& node, bool, void* value);
std::string write_enumerator(const ScalarType& type, bool, const void* value);
std::string words_of_enumerators(const ScalarType& type);

template <class T>
std::string read_as(const ScalarType&, const Node& node, bool byte_count, void* value) {
  return read_counted(byte_count, node, *static_cast<T*>(value));
}
template <class T>
std::string write_as(const ScalarType&, bool byte_count, const void* value) {
  return write_counted(byte_count, *static_cast<const T*>(value));
}
template <class T>
std::string words_as(const ScalarType&) {
  return scalar_words<T>();
}

template <class T>
constexpr Bytes schema_type() noexcept {
  if (std::same_as<T, bool>) return R"("boolean")";
  if (std::integral<T>) return R"("integer")";
  if (std::floating_point<T>) return R"("number")";
  return R"(["string", "number"])";
}

template <class T>
constexpr ScalarType make_scalar() noexcept {
  if constexpr (DescribedEnum<T>) {
    return {.read = &read_enumerator,
            .write = &write_enumerator,
            .words = &words_of_enumerators,
            .names = enumerator_values<T>,
            .size = sizeof(T)};
  } else {
    return {.read = &read_as<T>,
            .write = &write_as<T>,
            .words = &words_as<T>,
            .schema_type = schema_type<T>(),
            .size = sizeof(T)};
  }
}
template <class T>
inline constexpr ScalarType scalar_for = make_scalar<T>();

// ---- containers ----

template <class T>
void make_element(void* container, Bytes key, Visitor visit) {
  typename ContentOf<T>::Type item{};
  visit(key, &item);
  if (container == nullptr) return;
  T& to = *static_cast<T*>(container);
  if constexpr (is_optional<T>) {
    to = std::move(item);
  } else if constexpr (DictionaryMember<T>) {
    to.insert(to.end(), {std::string(key), std::move(item)});
  } else {
    to.push_back(std::move(item));
  }
}

template <class T>
void visit_elements(void* container, Visitor visit) {
  T& from = *static_cast<T*>(container);
  if constexpr (is_optional<T>) {
    if (from) visit({}, &*from);
  } else if constexpr (DictionaryMember<T>) {
    for (auto& [key, item] : from) visit(key, &item);
  } else {
    for (auto&& item : from) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(item)>, ElementOf<T>>) {
        visit({}, &item);
      } else {  // std::vector<bool> has no bool to refer to
        ElementOf<T> copy = item;
        visit({}, &copy);
      }
    }
  }
}

template <class T>
void clear(void* container) {
  if constexpr (is_optional<T>) {
    static_cast<T*>(container)->reset();
  } else {
    static_cast<T*>(container)->clear();
  }
}

template <class T>
Said said_of_each(const void* rules) {
  if constexpr (is_optional<T>) {
    return said_of(*static_cast<const Rules<WithoutOptional<T>>*>(rules));
  } else {
    return said_of(static_cast<const Rules<T>*>(rules)->each);
  }
}

template <class T>
inline constexpr Container container_for{.element = &type_of<typename ContentOf<T>::Type>,
                                         .make = &make_element<T>,
                                         .visit = &visit_elements<T>,
                                         .clear = &clear<T>,
                                         .each = &said_of_each<T>};

// ---- any type ----

template <class T>
constexpr Type make_type() noexcept {
  using enum Type::Kind;
  if constexpr (is_optional<T>) {
    static_assert(!is_patch<T>, "no type of a configuration; see docs/guides/config.md");
    return {.kind = optional, .container = &container_for<T>, .assign = &assign<T>};
  } else if constexpr (Scalar<T>) {
    return {.kind = scalar, .scalar = &scalar_for<T>, .broken = &broken<T>, .assign = &assign<T>};
  } else if constexpr (Described<T>) {
    return {.kind = group, .group = &group_for<T>, .broken = &broken<T>};
  } else {
    static_assert(DictionaryMember<T> || ListMember<T>,
                  "no type of a configuration; see docs/guides/config.md");
    return {.kind = DictionaryMember<T> ? dictionary : list,
            .container = &container_for<T>,
            .broken = &broken<T>,
            .assign = &assign<T>};
  }
}

}  // namespace detail

template <class T>
const Type& type_of() {
  static constexpr Type type = detail::make_type<T>();
  return type;
}

// Compiled once, in table.cpp.
extern template const Type& type_of<bool>();
extern template const Type& type_of<signed char>();
extern template const Type& type_of<unsigned char>();
extern template const Type& type_of<short>();
extern template const Type& type_of<unsigned short>();
extern template const Type& type_of<int>();
extern template const Type& type_of<unsigned>();
extern template const Type& type_of<long>();
extern template const Type& type_of<unsigned long>();
extern template const Type& type_of<long long>();
extern template const Type& type_of<unsigned long long>();
extern template const Type& type_of<float>();
extern template const Type& type_of<double>();
extern template const Type& type_of<std::string>();
extern template const Type& type_of<Duration>();
extern template const Type& type_of<ByteCount>();
extern template const Type& type_of<std::optional<Duration>>();
extern template const Type& type_of<std::optional<std::string>>();
extern template const Type& type_of<std::vector<std::string>>();
extern template const Type& type_of<std::vector<Duration>>();
extern template const Type& type_of<std::map<std::string, std::string>>();

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
