// Described structs: one description of a struct's members, without a code generator. It serves
// JSON, MessagePack, the binary format, configuration, rows of a database, queries and log records.
//
// To describe, in the namespace of the struct and below it:
//
//   struct NewUser {
//     std::string name;
//     std::string email;
//     std::optional<int> age;
//   };
//   KATANA_DESCRIBE(NewUser, name, email, age)
//
// A member with rules (base/values/rules.hpp) stands in parentheses:
//
//   KATANA_DESCRIBE(NewUser, (name, length(1, 80)), (email, format::email), (age, range(0, 150)))
//
// KATANA_DESCRIBE_STRICT is the same, but every reader refuses unknown names.
// KATANA_DESCRIBE_DERIVED(Settings, Base, page_max) has the members in the description of Base, and
// then the listed ones. The expansion of the macro may also be written by hand:
//
//   constexpr auto katana_describe(const NewUser*) {
//     using namespace katana::rules;
//     return describe(refuse_unknown, field(&NewUser::name, "name", length(1, 80)),
//                     field(&NewUser::email, "email", format::email), field(&NewUser::age, "age"));
//   }
//
// It may also return a function that makes the description. A source that does not use it then
// does not compile it. This is for generated headers with hundreds of structs: mistakes in a
// description are found only where it is used.
//
//     return []<class S = NewUser>() { … return describe(field(&S::name, "name"), …); };
//
// A rule across members stands behind the description, with the member that its message is about. A
// reader applies it once each member obeys its own rules. A derived struct has the rules of its
// base and its own ones. Two bases with rules do not compile:
//
//   KATANA_DESCRIBE_RULES(Booking, (ends, [](const Booking& b) { return b.starts < b.ends; },
//                                   "a time after 'starts'"))
//
// Enumerators have names, too. Enumerators that are not described have none:
//
//   enum class Role { guest, admin };
//   KATANA_DESCRIBE_ENUM(Role, guest, (admin, "administrator"))
//
// Members may be numbers, bool, std::string, std::vector<std::byte>, described enums and structs.
// Members may also be lists (std::vector), dictionaries (std::map<std::string, …>), std::optional
// and Patch (base/values/patch.hpp). They may be variants (base/values/described_variant.hpp,
// base/values/any_of.hpp). A struct that contains its own type uses Box (base/values/box.hpp). Each
// reader of the description decides which of these it takes.
//
// To read a description:
//
//   Described<T>                              true if T has a description
//   for_each_field<T>([](const auto& field) { field.name; field.pointer; field.rules; });
//   for_each_field(value, [](const auto& field, auto& member) { … });   const value: const member
//   for_each_index<T>([](auto index) { if constexpr (field_of<T, index>.rules.secret) … });
//   field_count<T>, field_of<T, index>, unknown_names<T>
//   check(value, [](Bytes pointer, std::string words) { … })   every broken rule, with its place
//   check_across(value, [](Bytes member, std::string words) { … })   only the rules across members
//   enumerator_name(role), enumerator_from<Role>("admin"), for_each_enumerator<Role>(…)
//
// `field_of` and its members are constants. Parts that are not used cost nothing at run time.
//
// Owns       nothing: names are literals.
// Thread     any.
// Allocates  never; check() and check_across() allocate the words of broken rules.
// Fails      two members of one name, and rules that do not fit, do not compile.
// Invariant  only described members are visited, in the order of the description. A description has
//            at most described_members_max of them.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/rules.hpp"

namespace katana {

// ---- a description ----

// The most members of a struct. The compiler unrolls visitors, and each member costs compile time.
inline constexpr std::size_t described_members_max = 200;

// The treatment of a name in the input that is not in the description.
enum class UnknownNames : std::uint8_t { by_reader, refuse, ignore };

// One described member: its name, its place in the struct, and its rules.
template <class S, class M>
struct DescribedField {
  using Struct = S;                  // struct that has the member
  using Member = M;                  // type of the member as declared
  using Value = WithoutOptional<M>;  // the type to which the rules apply

  Bytes name;          // in JSON, configuration and tables; named() changes it
  M S::* pointer;      // to reach the member of a value
  Rules<Value> rules;  // the result of all marks of the member

  // True if a reader that requires all but optional members (JSON, a row) requires this one.
  constexpr bool required() const noexcept {
    if (rules.presence == Presence::by_type) return !is_optional<M>;
    return rules.presence == Presence::required;
  }
};

namespace detail {

// A std::tuple of 60 fields takes a compiler half a second for its constructors alone; this has
// none.
template <std::size_t index, class Field>
struct FieldAt {
  Field field;
};
template <class Indexes, class... Fields>
struct FieldList;
template <std::size_t... index, class... Fields>
struct FieldList<std::index_sequence<index...>, Fields...> : FieldAt<index, Fields>... {};

template <std::size_t index, class Field>
constexpr const Field& field_at(const FieldAt<index, Field>& list) noexcept {
  return list.field;
}

}  // namespace detail

// All described members of a struct, in order. A constant; KATANA_DESCRIBE makes it.
template <class... Fields>
struct Description {
  static constexpr std::size_t field_count = sizeof...(Fields);  // members that are described

  UnknownNames unknown;  // treatment of other names in the input
  // The fields, for for_each_field() and field_of.
  detail::FieldList<std::index_sequence_for<Fields...>, Fields...> fields;
};

// A struct that KATANA_DESCRIBE describes.
template <class T>
concept Described = requires(const T* type) { katana_describe(type); };

namespace detail {

// A description, or a function that makes it.
template <class Made>
consteval auto made_description(Made made) {
  if constexpr (requires { made(); }) {
    return made();
  } else {
    return made;
  }
}

}  // namespace detail

// The description of T.
template <Described T>
inline constexpr auto description_of =
    detail::made_description(katana_describe(static_cast<const T*>(nullptr)));

// The number of described members of T.
template <Described T>
inline constexpr std::size_t field_count =
    std::remove_cvref_t<decltype(description_of<T>)>::field_count;

// The DescribedField with this index, from 0.
template <Described T, std::size_t index>
inline constexpr const auto& field_of = detail::field_at<index>(description_of<T>.fields);

// The treatment of names in the input that are not in the description of T.
template <Described T>
inline constexpr UnknownNames unknown_names = description_of<T>.unknown;

// The type of the member that a DescribedField describes.
template <class Field>
using MemberOf = typename std::remove_cvref_t<Field>::Member;

// Calls visit(std::integral_constant<std::size_t, index>) for each field.
template <Described T, class Visit>
constexpr void for_each_index(Visit&& visit) {
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (visit(std::integral_constant<std::size_t, index>()), ...);
  }(std::make_index_sequence<field_count<T>>());
}

// Calls visit(field) for each field.
template <Described T, class Visit>
constexpr void for_each_field(Visit&& visit) {
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (visit(field_of<T, index>), ...);
  }(std::make_index_sequence<field_count<T>>());
}

// True if a writer may leave out members of T.
template <Described T>
inline constexpr bool has_patches = [] {
  bool has = false;
  for_each_field<T>([&](const auto& field) { has = has || is_patch<MemberOf<decltype(field)>>; });
  return has;
}();

// Calls visit(field, member) for each field of `value`.
template <class T, class Visit>
  requires Described<std::remove_const_t<T>>
constexpr void for_each_field(T& value, Visit&& visit) {
  for_each_field<std::remove_const_t<T>>(
      [&](const auto& field) { visit(field, value.*field.pointer); });
}

// ---- rules across members ----

// A rule about several members of a described struct. KATANA_DESCRIBE_RULES makes it.
template <class S>
struct RuleAcross {
  using Struct = S;            // struct whose members it compares
  Bytes member;                // name of the member that the message is about
  bool (*holds)(const S& of);  // false: the rule is broken
  Bytes words;                 // follows "expected"
};

namespace rules {

// An argument that excludes the rules which the struct `Excluded` itself has.
template <class Excluded>
struct RulesExcept {};

}  // namespace rules

namespace detail {

// The compiler chooses it where neither a struct nor a base of it has rules.
template <class Excluded>
consteval std::array<RuleAcross<void*>, 0> katana_rules_across(const void*,
                                                               rules::RulesExcept<Excluded>) {
  return {};
}

// The rules of T, or else of its nearest base that has some. Those of `Excluded` do not count.
template <class T, class Excluded>
consteval auto nearest_rules_across() {
  if constexpr (requires(const T* type) {
                  katana_rules_across(type, rules::RulesExcept<Excluded>());
                }) {
    return katana_rules_across(static_cast<const T*>(nullptr), rules::RulesExcept<Excluded>());
  } else {
    static_assert(!std::same_as<T, T>,
                  "KATANA_DESCRIBE_RULES: a struct has two bases with rules across members, or a "
                  "private one. Make such a base a member");
  }
}

// Begins with the rules of the farthest base.
template <class Excluded, class T, class Report>
void check_nearest_across(const T& value, Report& report) {
  static constexpr auto across = nearest_rules_across<T, Excluded>();
  if constexpr (across.size() != 0) {
    using Holder = typename decltype(across)::value_type::Struct;
    const Holder& part = value;
    check_nearest_across<Holder>(part, report);
    for (const auto& rule : across) {
      if (!rule.holds(part)) report(rule.member, "expected " + std::string(rule.words));
    }
  }
}

}  // namespace detail

// A struct with rules across members. A derived struct also has the rules of its base.
template <class T>
concept RuledAcross =
    Described<T> && !std::same_as<decltype(detail::nearest_rules_across<T, void>()),
                                  std::array<RuleAcross<void*>, 0>>;

// Reports each rule across the members of `value` that it breaks, those of a base first. It calls
// report(member, words). It does not look into structs inside `value`.
template <Described T, class Report>
void check_across(const T& value, Report&& report) {
  if constexpr (RuledAcross<T>) detail::check_nearest_across<void>(value, report);
}

namespace rules {

// Called by KATANA_DESCRIBE_RULES. A member that is not described does not compile.
template <class S, class M, class Holder>
consteval RuleAcross<S> across(M Holder::* about, bool (*holds)(const S&), const char* words) {
  static_assert(std::derived_from<S, Holder>);
  Bytes member;
  for_each_field<S>([&](const auto& field) {
    if constexpr (std::same_as<MemberOf<decltype(field)>, M>) {
      if (field.pointer == about) member = field.name;
    }
  });
  if (member.data() == nullptr) throw "KATANA_DESCRIBE_RULES: a member that is not described";
  if (Bytes(words).empty()) throw "KATANA_DESCRIBE_RULES: a rule without words";
  return {member, holds, words};
}
// Called by KATANA_DESCRIBE_RULES.
template <class S, std::same_as<RuleAcross<S>>... More>
consteval std::array<RuleAcross<S>, 1 + sizeof...(More)> all_across(RuleAcross<S> first,
                                                                    More... more) {
  return {first, more...};
}

// A mark in front of the members: the treatment of names that are not in the description.
struct Unknown {
  UnknownNames names;  // by_reader, refuse or ignore
};
// An unknown name in the input is an error.
inline constexpr Unknown refuse_unknown{UnknownNames::refuse};
// Unknown names in the input are skipped.
inline constexpr Unknown ignore_unknown{UnknownNames::ignore};

// Called by the macros for a member and its marks. A mark that does not fit does not compile.
template <class S, class M, class... Marks>
consteval DescribedField<S, M> field(M S::* pointer, const char* name, Marks... marks) {
  Rules<WithoutOptional<M>> all;
  (marks.apply(all), ...);
  if (all.not_null && !is_patch<M>) throw "not_null is for members of type katana::Patch";
  return {all.name.empty() ? Bytes(name) : all.name, pointer, all};
}

// The hash FNV-1a of a name. describe() compares each pair of names. Without hashes, clang's limit
// of constant evaluation steps is too low for 200 names of one length with a common beginning.
constexpr std::uint32_t name_hash(Bytes name) noexcept {
  std::uint32_t hash = 0x811c9dc5u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return hash;
}

// Called by the macros. Two members with one name do not compile.
template <class... Fields>
consteval Description<Fields...> describe(Unknown unknown, Fields... fields) {
  static_assert(sizeof...(Fields) <= described_members_max,
                "more members than katana::described_members_max: make several structs of it");
  const std::array<Bytes, sizeof...(Fields) + 1> names{fields.name...};
  const std::array<std::uint32_t, sizeof...(Fields) + 1> hashes{name_hash(fields.name)...};
  for (std::size_t one = 0; one < sizeof...(Fields); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (hashes[one] != hashes[other]) continue;
      if (names[one] == names[other]) throw "describe: two members have one name";
    }
  }
  return {unknown.names, {{fields}...}};
}
// Called by the macros, for a description that leaves unknown names to the reader.
template <class... Fields>
  requires(!(std::same_as<Fields, Unknown> || ...))
consteval Description<Fields...> describe(Fields... fields) {
  return describe(Unknown{UnknownNames::by_reader}, fields...);
}

// Called by KATANA_DESCRIBE_DERIVED: the first members are those of Base.
template <class Base, std::size_t... index, class... Fields>
consteval auto describe_after(std::index_sequence<index...>, Fields... fields) {
  return describe(Unknown{unknown_names<Base>}, field_of<Base, index>..., fields...);
}
// The fields of the description of Base, and then `fields`.
template <class S, Described Base, class... Fields>
  requires std::derived_from<S, Base>
consteval auto describe_derived(Fields... fields) {
  return describe_after<Base>(std::make_index_sequence<field_count<Base>>(), fields...);
}

}  // namespace rules

// ---- enumerations ----

// One enumerator of a described enumeration.
template <class E>
struct Enumerator {
  E value;     // unique in its enumeration
  Bytes name;  // in JSON, configuration and columns
};

namespace rules {

// Called by KATANA_DESCRIBE_ENUM.
template <class E>
consteval Enumerator<E> enumerator(E value, const char* name) {
  return {value, name};
}
// Called by KATANA_DESCRIBE_ENUM.
template <class E, std::same_as<Enumerator<E>>... More>
consteval std::array<Enumerator<E>, 1 + sizeof...(More)> enumerators(Enumerator<E> first,
                                                                     More... more) {
  return {first, more...};
}

}  // namespace rules

// An enumeration that KATANA_DESCRIBE_ENUM describes.
template <class T>
concept DescribedEnum =
    std::is_enum_v<T> && requires(const T* type) { katana_enumerators(type).size(); };

// The described enumerators of E, in order.
template <DescribedEnum E>
inline constexpr auto enumerators_of = katana_enumerators(static_cast<const E*>(nullptr));

// Calls visit(const Enumerator<E>&) for each, in order.
template <DescribedEnum E, class Visit>
constexpr void for_each_enumerator(Visit&& visit) {
  for (const Enumerator<E>& each : enumerators_of<E>) visit(each);
}

// The name of an enumerator. data() is null for a value that is not described, because the name of
// a described one may be "".
template <DescribedEnum E>
constexpr Bytes enumerator_name(E value) noexcept {
  for (const Enumerator<E>& each : enumerators_of<E>) {
    if (each.value == value) return each.name;
  }
  return {};
}

// The enumerator with this name, which is case-sensitive. Empty: E has no such name.
template <DescribedEnum E>
constexpr std::optional<E> enumerator_from(Bytes name) noexcept {
  for (const Enumerator<E>& each : enumerators_of<E>) {
    if (each.name == name) return each.value;
  }
  return std::nullopt;
}

// The names for a message: "one of guest, administrator".
template <DescribedEnum E>
std::string enumerator_choices() {
  std::string words = "one of ";
  Bytes separator;
  for (const Enumerator<E>& each : enumerators_of<E>) {
    words.append(separator).append(each.name.empty() ? Bytes("''") : each.name);
    separator = ", ";
  }
  return words;
}

// ---- variants ----

// A variant that KATANA_DESCRIBE_VARIANT describes (base/values/described_variant.hpp).
template <class T>
concept DescribedVariant =
    is_variant<T> && requires(const T* type) { katana_alternatives(type).discriminator; };

// ---- checking a whole value ----

// Adds "/name" to a JSON pointer (RFC 6901 §3: ~ is ~0 and / is ~1).
void append_pointer(std::string& pointer, Bytes name);
void append_pointer(std::string& pointer, std::size_t index);

namespace detail {

template <class T>
concept Checked = Described<T> || DescribedVariant<T> || ListMember<T> || DictionaryMember<T> ||
                  is_any_of<T> || is_box<T>;

// Counts what it reports: rules across members wait until the members obey their own ones.
template <class Report>
struct CountedReport {
  Report& report;
  std::size_t count = 0;
  void operator()(Bytes pointer, std::string words) {
    ++count;
    report(pointer, std::move(words));
  }
};

template <class T, class Report>
void check_at(const Rules<T>& rules, const T& value, std::string& pointer, Report& report);

template <class T, class R, class Report>
void check_element(const R& rules, const T& element, std::string& pointer, Report& report) {
  if constexpr (is_optional<T>) {
    if (element) check_at(rules, *element, pointer, report);
  } else {
    check_at(rules, element, pointer, report);
  }
}

// Calls `inside` while `pointer` has one more step.
template <class Step, class Inside>
void step_into(std::string& pointer, Step step, Inside&& inside) {
  const std::size_t size = pointer.size();
  append_pointer(pointer, step);
  inside();
  pointer.resize(size);
}

template <class T, class Report>
void check_inside(const Rules<T>& rules, const T& value, std::string& pointer, Report& report) {
  if constexpr (Described<T>) {
    const std::size_t before = report.count;
    for_each_field(value, [&](const auto& field, const auto& member) {
      step_into(pointer, field.name, [&] { check_element(field.rules, member, pointer, report); });
    });
    if (report.count != before) return;
    check_across(value, [&](Bytes member, std::string words) {
      step_into(pointer, member, [&] { report(Bytes(pointer), std::move(words)); });
    });
  } else if constexpr (DescribedVariant<T>) {
    std::visit(
        [&]<class A>(const A& alternative) {
          check_inside(Rules<A>(), alternative, pointer, report);
        },
        value);
  } else if constexpr (is_any_of<T>) {
    value.visit([&]<class A>(const A& each) {
      if constexpr (Checked<A>) check_inside(Rules<A>(), each, pointer, report);
    });
  } else if constexpr (is_box<T>) {
    using Content = typename T::element_type;
    if constexpr (Checked<Content>) {
      if (value) check_inside(Rules<Content>(), *value, pointer, report);
    }
  } else if constexpr (DictionaryMember<T>) {
    for (const auto& [key, element] : value) {
      step_into(pointer, Bytes(key), [&] { check_element(rules.each, element, pointer, report); });
    }
  } else {
    std::size_t index = 0;
    for (const auto& element : value) {
      step_into(pointer, index++, [&] { check_element(rules.each, element, pointer, report); });
    }
  }
}

template <class T, class Report>
void check_at(const Rules<T>& rules, const T& value, std::string& pointer, Report& report) {
  if (!obeys(rules, value)) report(Bytes(pointer), broken_rule(rules, value));
  if constexpr (Checked<T>) check_inside(rules, value, pointer, report);
}

}  // namespace detail

// Reports each rule that `value` or a value inside it breaks. It calls report(pointer, words), as
// in report("/items/3/email", "expected an e-mail address, got 'x'"). It applies the rules across
// members of a struct if all of its members obey their own rules.
template <Described T, class Report>
void check(const T& value, Report&& report) {
  std::string pointer;
  detail::CountedReport<std::remove_reference_t<Report>> counted{report};
  detail::check_at(Rules<T>(), value, pointer, counted);
}

// The names of the described members of T, in their order.
template <Described T>
inline constexpr auto described_names = []<std::size_t... index>(std::index_sequence<index...>) {
  return std::array<std::string_view, field_count<T>>{field_of<T, index>.name...};
}(std::make_index_sequence<field_count<T>>());

}  // namespace katana

// ---- the macros ----

// Describes the members of a struct, each as a name or `(name, marks…)`. Use it in the namespace of
// the struct.
#define KATANA_DESCRIBE(Struct, ...)                                                          \
  [[maybe_unused]] constexpr auto katana_describe(const Struct*) {                            \
    using namespace ::katana::rules;                                                          \
    return ::katana::rules::describe(                                                         \
        KATANA_DETAIL_EXPAND(KATANA_DETAIL_EACH(KATANA_DETAIL_MEMBER, Struct, __VA_ARGS__))); \
  }
// As KATANA_DESCRIBE. A name in the input that is not described is an error.
#define KATANA_DESCRIBE_STRICT(Struct, ...)                                                   \
  [[maybe_unused]] constexpr auto katana_describe(const Struct*) {                            \
    using namespace ::katana::rules;                                                          \
    return ::katana::rules::describe(                                                         \
        ::katana::rules::refuse_unknown,                                                      \
        KATANA_DETAIL_EXPAND(KATANA_DETAIL_EACH(KATANA_DETAIL_MEMBER, Struct, __VA_ARGS__))); \
  }
// As KATANA_DESCRIBE. The members in the description of `Base` come first.
#define KATANA_DESCRIBE_DERIVED(Struct, Base, ...)                                             \
  [[maybe_unused]] constexpr auto katana_describe(const Struct*) {                             \
    using namespace ::katana::rules;                                                           \
    return ::katana::rules::describe_derived<Struct, Base>(__VA_OPT__(                         \
        KATANA_DETAIL_EXPAND(KATANA_DETAIL_EACH(KATANA_DETAIL_MEMBER, Struct, __VA_ARGS__)))); \
  }
// Rules across the members of a struct: `(member, holds, "words")…`. `holds` is a function or a
// lambda without captures, a bool(const Struct&). "words" follow "expected", in a message about the
// member. The rules of a base hold, too; a base is unambiguous and public. Use it behind the
// description, in the namespace of the struct.
#define KATANA_DESCRIBE_RULES(Struct, ...)                                                         \
  [[maybe_unused]] constexpr auto katana_rules_across(const Struct*) {                             \
    return ::katana::rules::all_across<Struct>(                                                    \
        KATANA_DETAIL_EXPAND(KATANA_DETAIL_EACH(KATANA_DETAIL_ACROSS, Struct, __VA_ARGS__)));      \
  }                                                                                                \
  template <class Excluded>                                                                        \
    requires(!::std::same_as<Excluded, Struct>)                                                    \
  constexpr auto katana_rules_across(const Struct* type, ::katana::rules::RulesExcept<Excluded>) { \
    return katana_rules_across(type);                                                              \
  }
// Describes the enumerators, each as a name or `(name, "text")`. Use it in the enum's namespace.
#define KATANA_DESCRIBE_ENUM(Enum, ...)                                                         \
  [[maybe_unused]] constexpr auto katana_enumerators(const Enum*) {                             \
    return ::katana::rules::enumerators(                                                        \
        KATANA_DETAIL_EXPAND(KATANA_DETAIL_EACH(KATANA_DETAIL_ENUMERATOR, Enum, __VA_ARGS__))); \
  }

// An entry is `member` or `(member, rules…)`. KATANA_DETAIL_COMMA turns parentheses into a comma,
// which identifies an entry in parentheses.
#define KATANA_DETAIL_COMMA(...) ,
#define KATANA_DETAIL_THIRD(first, second, third, ...) third
#define KATANA_DETAIL_CHOOSE(...) KATANA_DETAIL_THIRD(__VA_ARGS__)
#define KATANA_DETAIL_MEMBER(Struct, entry)                                                  \
  KATANA_DETAIL_CHOOSE(KATANA_DETAIL_COMMA entry, KATANA_DETAIL_RULED, KATANA_DETAIL_BARE, ) \
  (Struct, entry)
#define KATANA_DETAIL_BARE(Struct, member) ::katana::rules::field(&Struct::member, #member)
#define KATANA_DETAIL_RULED(Struct, entry) KATANA_DETAIL_RULED_IN(Struct, KATANA_DETAIL_STRIP entry)
#define KATANA_DETAIL_STRIP(...) __VA_ARGS__
#define KATANA_DETAIL_RULED_IN(...) KATANA_DETAIL_RULED_FIELD(__VA_ARGS__)
#define KATANA_DETAIL_RULED_FIELD(Struct, member, ...) \
  ::katana::rules::field(&Struct::member, #member __VA_OPT__(, ) __VA_ARGS__)
#define KATANA_DETAIL_ACROSS(Struct, entry) \
  KATANA_DETAIL_ACROSS_IN(Struct, KATANA_DETAIL_STRIP entry)
#define KATANA_DETAIL_ACROSS_IN(...) KATANA_DETAIL_ACROSS_RULE(__VA_ARGS__)
#define KATANA_DETAIL_ACROSS_RULE(Struct, member, ...) \
  ::katana::rules::across<Struct>(&Struct::member, __VA_ARGS__)
#define KATANA_DETAIL_ENUMERATOR(Enum, entry)                                                   \
  KATANA_DETAIL_CHOOSE(KATANA_DETAIL_COMMA entry, KATANA_DETAIL_RENAMED, KATANA_DETAIL_PLAIN, ) \
  (Enum, entry)
#define KATANA_DETAIL_PLAIN(Enum, name) ::katana::rules::enumerator(Enum::name, #name)
#define KATANA_DETAIL_RENAMED(Enum, entry) KATANA_DETAIL_RENAMED_IN(Enum, KATANA_DETAIL_STRIP entry)
#define KATANA_DETAIL_RENAMED_IN(...) KATANA_DETAIL_RENAMED_AS(__VA_ARGS__)
#define KATANA_DETAIL_RENAMED_AS(Enum, name, text) ::katana::rules::enumerator(Enum::name, text)

// Applies a macro to each argument. The preprocessor has no recursion. KATANA_DETAIL_EXPAND
// therefore makes forty scans, and each scan takes KATANA_DETAIL_EACH one step further. A step is
// eight arguments, because every scan reads the whole previous output again.
#define KATANA_DETAIL_PARENS ()
#define KATANA_DETAIL_EXPAND(...) \
  KATANA_DETAIL_EXPAND2(KATANA_DETAIL_EXPAND2(KATANA_DETAIL_EXPAND2(__VA_ARGS__)))
#define KATANA_DETAIL_EXPAND2(...) \
  KATANA_DETAIL_EXPAND1(KATANA_DETAIL_EXPAND1(KATANA_DETAIL_EXPAND1(__VA_ARGS__)))
#define KATANA_DETAIL_EXPAND1(...) \
  KATANA_DETAIL_EXPAND0(KATANA_DETAIL_EXPAND0(KATANA_DETAIL_EXPAND0(__VA_ARGS__)))
#define KATANA_DETAIL_EXPAND0(...) __VA_ARGS__
#define KATANA_DETAIL_EACH(macro, Struct, entry, ...) \
  macro(Struct, entry) __VA_OPT__(, KATANA_DETAIL_EACH2(macro, Struct, __VA_ARGS__))
#define KATANA_DETAIL_EACH2(macro, Struct, entry, ...) \
  macro(Struct, entry) __VA_OPT__(, KATANA_DETAIL_EACH3(macro, Struct, __VA_ARGS__))
#define KATANA_DETAIL_EACH3(macro, Struct, entry, ...) \
  macro(Struct, entry) __VA_OPT__(, KATANA_DETAIL_EACH4(macro, Struct, __VA_ARGS__))
#define KATANA_DETAIL_EACH4(macro, Struct, entry, ...) \
  macro(Struct, entry) __VA_OPT__(, KATANA_DETAIL_EACH5(macro, Struct, __VA_ARGS__))
#define KATANA_DETAIL_EACH5(macro, Struct, entry, ...) \
  macro(Struct, entry) __VA_OPT__(, KATANA_DETAIL_EACH6(macro, Struct, __VA_ARGS__))
#define KATANA_DETAIL_EACH6(macro, Struct, entry, ...) \
  macro(Struct, entry) __VA_OPT__(, KATANA_DETAIL_EACH7(macro, Struct, __VA_ARGS__))
#define KATANA_DETAIL_EACH7(macro, Struct, entry, ...) \
  macro(Struct, entry) __VA_OPT__(, KATANA_DETAIL_EACH8(macro, Struct, __VA_ARGS__))
#define KATANA_DETAIL_EACH8(macro, Struct, entry, ...) \
  macro(Struct, entry)                                 \
      __VA_OPT__(, KATANA_DETAIL_AGAIN KATANA_DETAIL_PARENS(macro, Struct, __VA_ARGS__))
#define KATANA_DETAIL_AGAIN() KATANA_DETAIL_EACH

// SPDX-License-Identifier: Apache-2.0
