// Reading: the common part of the readers of JSON, MessagePack and forms. It fills a struct from
// nodes, and reports input that does not fit.
//
// A node is one value of the input that was not read yet. Its members:
//
//   kind()                       its kind; nothing when it is malformed
//   take_null()  take(bool&)  take(std::int64_t&)  take(std::uint64_t&)  take(double&)
//   take(std::string&)   take(Octets&)
//   each_item(visit)             visit(node) → bool for each; false ends it
//   each_field(visit)            visit(key, node) → bool; key.is<index, T>(), key.resolve(),
//                                key.text(name)
//   is_null()                    kind() == Kind::null, quickly
//   skip()                       reads past it, and validates it nevertheless
//   look(visitor)                visits the members of an object; the node must still be read,
//                                unless the result says otherwise
//   number_text()                the original text of a number; empty: the value is no number
//   shown()                      the text of a number, for a message
//   kind_among(kinds), take_file(file)    only in a form: the kind among these as which a text is
//                                         read, and a part that is a file
//   number()                     only for an item of a form: the number under which it was sent
//
// Borrows    findings and options, for the call.
// Thread     one.
// Allocates  for the members of the struct, and messages.
// Fails      Outcome::stop after malformed input; Outcome::refused after a finding, and then
//            reading goes on behind the value.
// Invariant  nested lists and objects are no deeper than depth_max, whether they are read or
//            skipped.
#pragma once

#include <array>
#include <bit>
#include <bitset>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/values/any_of.hpp"
#include "katana/base/values/box.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/described_variant.hpp"
#include "katana/data/container/choice.hpp"
#include "katana/data/container/declared_json.hpp"
#include "katana/data/container/findings.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container::detail {

enum class Taken : std::uint8_t {
  good,
  mismatch,      // the value has another kind, and must still be read
  out_of_range,  // a number that the type cannot hold; it must still be read
  malformed,     // noted already
};
enum class Outcome : std::uint8_t { good, refused, stop };

struct Looked {
  bool is_malformed = false;  // noted already
  bool is_read = false;       // the object is empty, and was read
};

// The place of a value: a name or an index in its container. It lies on the stack of the reader.
struct Place {
  const Place* outer = nullptr;
  Bytes name = {};
  std::size_t index = 0;
  bool is_named = false;
};

class Reading {
 public:
  // The format and the place of malformed input: "malformed JSON: missing comma, near byte 17".
  struct Where {
    Bytes format;
    std::optional<std::size_t> (*offset)(const void* source);
    const void* source;
  };
  Reading(Findings& findings, const ReadOptions& options, Where where) noexcept
      : findings_(findings), options_(options), where_(where) {}

  // Adds a finding. Returns Outcome::refused.
  KATANA_RARE Outcome report(const Place& place, std::string words);
  // Reports a member with a name that is not in `names`, and suggests the nearest of them.
  KATANA_RARE Outcome report_unknown(const Place& outer, Bytes name,
                                     std::span<const std::string_view> names);
  // Notes malformed input; only the first call counts. Returns Outcome::stop.
  KATANA_RARE Outcome malformed(Bytes words);
  KATANA_RARE Outcome mismatch(const Place& place, Bytes expected, std::optional<Kind> got,
                               std::string shown);

  bool enter() noexcept { return depth_++ < options_.depth_max; }
  void leave() noexcept { --depth_; }
  KATANA_RARE Outcome too_deep();
  const ReadOptions& options() const noexcept { return options_; }

 private:
  Findings& findings_;
  const ReadOptions& options_;
  Where where_;
  std::size_t depth_ = 0;
};

Bytes kind_words(Kind kind) noexcept;

// ---- the rules of the value that is read, as a type ----

template <class T>
inline constexpr Rules<T> no_rules{};
template <class T>
struct WithoutRules {
  static constexpr const auto& rules = no_rules<WithoutOptional<T>>;
};
template <Described T, std::size_t index>
struct RulesOf {
  static constexpr const auto& rules = field_of<T, index>.rules;
};
template <class Outer>
struct RulesOfEach {
  static constexpr const auto& rules = Outer::rules.each;
};

// ---- integers ----

template <std::integral T>
constexpr Bytes integer_words() noexcept {
  if constexpr (std::same_as<T, std::int8_t>) return "integer from -128 to 127";
  if constexpr (std::same_as<T, std::uint8_t>) return "integer from 0 to 255";
  if constexpr (sizeof(T) == 2) {
    return std::signed_integral<T> ? "integer from -32768 to 32767" : "integer from 0 to 65535";
  }
  if constexpr (sizeof(T) == 4) {
    return std::signed_integral<T> ? "integer from -2147483648 to 2147483647"
                                   : "integer from 0 to 4294967295";
  }
  return std::signed_integral<T> ? "integer of 64 bits with a sign"
                                 : "integer of 64 bits without a sign";
}

// ---- filling a value ----

template <class P, class Node, class T>
Outcome read_value(Node& node, T& value, const Place& place, Reading& reading);

template <class Node>
Outcome refuse(Node& node, Bytes expected, const Place& place, Reading& reading) {
  const std::optional<Kind> got = node.kind();
  std::string shown = node.shown();
  if (!node.skip()) return Outcome::stop;
  return reading.mismatch(place, expected, got, std::move(shown));
}

// The outcome after a node was asked for a value.
template <class Node>
[[gnu::always_inline]] inline Outcome finish_read(Taken taken, Node& node, Bytes expected,
                                                  const Place& place, Reading& reading) {
  if (taken == Taken::good) [[likely]]
    return Outcome::good;
  return taken == Taken::malformed ? Outcome::stop : refuse(node, expected, place, reading);
}

template <class Node, class T>
[[gnu::always_inline]] inline Outcome read_number(Node& node, T& value, const Place& place,
                                                  Reading& reading) {
  if constexpr (std::floating_point<T>) {
    double wide = 0;
    const Taken taken = node.take(wide);
    value = static_cast<T>(wide);
    // A finite double became an infinite float: the number is out of the range of its type.
    const bool fits = std::same_as<T, double> || value - value == 0 || wide - wide != 0;
    if (taken == Taken::good && !fits) {
      return reading.mismatch(place, "number that a float can hold", Kind::real, {});
    }
    const Bytes expected = taken == Taken::out_of_range ? "number of 64 bits" : "number";
    return finish_read(taken, node, expected, place, reading);
  } else {
    std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t> wide = 0;
    const Taken taken = node.take(wide);
    if constexpr (sizeof(T) < 8) {
      if (taken == Taken::good && !std::in_range<T>(wide)) [[unlikely]] {
        return reading.mismatch(place, integer_words<T>(), Kind::integer, fmt::format("{}", wide));
      }
    }
    value = static_cast<T>(wide);
    const Bytes expected = taken == Taken::out_of_range ? integer_words<T>() : Bytes("integer");
    return finish_read(taken, node, expected, place, reading);
  }
}

template <class Node, class E>
Outcome read_enumerator(Node& node, E& value, const Place& place, Reading& reading) {
  std::string name;
  const Outcome outcome = finish_read(node.take(name), node, "string", place, reading);
  if (outcome != Outcome::good) return outcome;
  const std::optional<E> found = enumerator_from<E>(name);
  if (!found)
    return reading.report(place, katana::detail::broken_text(enumerator_choices<E>(), name));
  value = *found;
  return outcome;
}

template <class P, class Node, class T>
Outcome read_text_form(Node& node, T& value, const Place& place, Reading& reading) {
  std::string text;
  Taken taken = node.take(text);
  if constexpr (reads_numbers<T>()) {
    if (taken == Taken::mismatch && !(text = node.number_text()).empty()) {
      taken = node.skip() ? Taken::good : Taken::malformed;
    }
  }
  const Outcome outcome = finish_read(taken, node, "string", place, reading);
  if (outcome != Outcome::good) return outcome;
  std::optional<T> parsed = TextForm<T>::parse(text);
  if (!parsed) {
    if constexpr (requires { TextForm<T>::misfit(text); }) {
      if (!P::rules.secret) return reading.report(place, TextForm<T>::misfit(text));
    }
    const Bytes shown = P::rules.secret ? Bytes() : Bytes(text);
    return reading.report(place, katana::detail::broken_text(TextForm<T>::expected, shown));
  }
  value = *std::move(parsed);
  return outcome;
}

// The index of an item for messages; for a form, the number in its name.
template <class Node>
[[gnu::always_inline]] inline std::size_t index_of(const Node& item, std::size_t position) {
  if constexpr (requires { item.number(); }) {
    return item.number().value_or(position);
  } else {
    return position;
  }
}

template <class P, class Node, class T>
Outcome read_list(Node& node, T& list, const Place& place, Reading& reading) {
  list.clear();
  Place item_place{.outer = &place};
  std::size_t count = 0;
  Outcome all = Outcome::good;
  const auto visit = [&](auto& item) {
    item_place.index = index_of(item, count++);
    // Items beyond length_max are not kept, because a client decides how many there are.
    if (count > P::rules.length_max) return item.skip();
    typename T::value_type element{};
    const Outcome outcome = read_value<RulesOfEach<P>>(item, element, item_place, reading);
    if (outcome != Outcome::good) all = Outcome::refused;
    if (outcome == Outcome::good) list.push_back(std::move(element));
    return outcome != Outcome::stop;
  };
  const Outcome outcome = finish_read(node.each_item(visit), node, "array", place, reading);
  if (outcome != Outcome::good) return outcome;
  if (count > P::rules.length_max) {
    return reading.report(place, katana::detail::broken_length(P::rules.length_min,
                                                               P::rules.length_max, count, "item"));
  }
  return all;
}

// Adds an element of that name. nullptr: a map has one already; a vector of pairs is not searched.
template <class T>
auto* add_entry(T& dictionary, std::string&& name) {
  if constexpr (is_vector_of_pairs<T>) {
    return &dictionary.emplace_back(std::move(name), ElementOf<T>{}).second;
  } else {
    const auto [at, is_new] = dictionary.try_emplace(std::move(name));
    return is_new ? &at->second : nullptr;
  }
}

bool has_duplicates(std::vector<Bytes>& names);

template <class T>
bool has_duplicates_in(const T& dictionary) {
  if constexpr (is_vector_of_pairs<T>) {
    std::vector<Bytes> names;
    names.reserve(dictionary.size());
    for (const auto& entry : dictionary) names.emplace_back(entry.first);
    return has_duplicates(names);
  } else {
    return false;
  }
}

template <class P, class Node, class T>
Outcome read_dictionary(Node& node, T& dictionary, const Place& place, Reading& reading) {
  dictionary.clear();
  std::size_t count = 0;
  Outcome all = Outcome::good;
  const auto visit = [&](auto& key, auto& item) {
    std::string name;
    if (!key.text(name)) return false;
    const std::string shown = name;
    const Place item_place{.outer = &place, .name = shown, .is_named = true};
    if (++count > P::rules.length_max) return item.skip();
    auto* const element = add_entry(dictionary, std::move(name));
    if (element == nullptr) {
      all = reading.report(item_place, "is there twice");
      return item.skip();
    }
    const Outcome outcome = read_value<RulesOfEach<P>>(item, *element, item_place, reading);
    if (outcome != Outcome::good) all = Outcome::refused;
    return outcome != Outcome::stop;
  };
  const Outcome outcome = finish_read(node.each_field(visit), node, "object", place, reading);
  if (outcome != Outcome::good) return outcome;
  if (count > P::rules.length_max) {
    return reading.report(place, katana::detail::broken_length(P::rules.length_min,
                                                               P::rules.length_max, count, "item"));
  }
  if (has_duplicates_in(dictionary)) return reading.report(place, "a name is there twice");
  return all;
}

// ---- structs ----

template <Described T>
KATANA_RARE Outcome report_missing(const Seen<T>& seen, const Place& place, Reading& reading) {
  for_each_index<T>([&](auto index) {
    if (!required_names<T>[index] || seen[index]) return;
    const Place missing{.outer = &place, .name = field_of<T, index>.name, .is_named = true};
    (void)reading.report(missing, "is missing");
  });
  return Outcome::refused;
}

template <class Node, class Key>
KATANA_RARE Outcome pass_unknown(Node& node, Key& key, UnknownNames unknown, const Place& place,
                                 std::span<const std::string_view> names, Reading& reading) {
  std::string name;
  if (!key.text(name) || !node.skip()) return Outcome::stop;
  if (unknown == UnknownNames::ignore) return Outcome::good;
  return reading.report_unknown(place, name, names);
}

// Reads the member at `index` if the key has its name.
template <std::size_t index, class T, class Node, class Key>
[[gnu::always_inline]] inline bool read_field(Node& node, Key& key, T& value, Seen<T>& seen,
                                              Place& place, Reading& reading, Outcome& outcome) {
  constexpr const auto& field = field_of<T, index>;
  if (!key.template is<index, T>()) return false;
  place.name = field.name;
  if (seen[index]) {
    outcome = node.skip() ? reading.report(place, "is there twice") : Outcome::stop;
    return true;
  }
  seen.set(index);
  outcome = read_value<RulesOf<T, index>>(node, value.*field.pointer, place, reading);
  return true;
}

// The treatment of names that the description does not have.
struct UnknownMembers {
  template <class Node, class Key>
  Outcome pass(Node& node, Key& key, UnknownNames unknown, const Place& place,
               std::span<const std::string_view> names, Reading& reading) {
    return pass_unknown(node, key, unknown, place, names, reading);
  }
};

template <RuledAcross T>
Outcome check_rules_across(const T& value, const Place& place, Reading& reading) {
  Outcome all = Outcome::good;
  check_across(value, [&](Bytes member, std::string words) {
    all = reading.report({.outer = &place, .name = member, .is_named = true}, std::move(words));
  });
  return all;
}

template <class Node, class T, class Others = UnknownMembers>
Outcome read_struct(Node& node, T& value, const Place& place, Reading& reading,
                    Others others = {}) {
  constexpr UnknownNames own = unknown_names<T>;
  const UnknownNames unknown = own == UnknownNames::by_reader ? reading.options().unknown : own;
  Seen<T> seen;
  Outcome all = Outcome::good;
  Place member{.outer = &place, .is_named = true};
  const auto visit = [&](auto& key, auto& item) __attribute__((always_inline)) {
    Outcome outcome = Outcome::good;
    const auto read_one =
        [&]<std::size_t... index>(std::index_sequence<index...>) __attribute__((always_inline)) {
          return (read_field<index>(item, key, value, seen, member, reading, outcome) || ...);
        };
    constexpr auto all_fields = std::make_index_sequence<field_count<T>>();
    bool known = read_one(all_fields);
    // A key may have escapes. It is first compared in its original form.
    if (!known && key.resolve()) known = read_one(all_fields);
    if (!known) outcome = others.pass(item, key, unknown, place, described_names<T>, reading);
    if (outcome != Outcome::good) [[unlikely]]
      all = Outcome::refused;
    return outcome != Outcome::stop;
  };
  const Outcome outcome = finish_read(node.each_field(visit), node, "object", place, reading);
  if (outcome != Outcome::good) return outcome;
  const bool complete = [&]<std::size_t... index>(std::index_sequence<index...>) {
    return ((!required_names<T>[index] || seen[index]) && ...);
  }(std::make_index_sequence<field_count<T>>());
  if (!complete) return report_missing<T>(seen, place, reading);
  if constexpr (RuledAcross<T>) {
    if (all == Outcome::good) all = check_rules_across(value, place, reading);
  }
  return all;
}

// ---- variants ----

// Like UnknownMembers, but passes over the discriminator, which was read already.
struct DiscriminatorAndUnknown {
  Bytes discriminator;
  bool is_seen = false;
  template <class Node, class Key>
  Outcome pass(Node& node, Key& key, UnknownNames unknown, const Place& place,
               std::span<const std::string_view> names, Reading& reading) {
    std::string name;
    if (!key.text(name)) return Outcome::stop;
    if (name != discriminator) return pass_unknown(node, key, unknown, place, names, reading);
    if (!node.skip()) return Outcome::stop;
    if (!std::exchange(is_seen, true)) return Outcome::good;
    return reading.report({.outer = &place, .name = name, .is_named = true}, "is there twice");
  }
};

// Searches for a member by its name.
struct SoughtMember final : MemberVisitor {
  explicit SoughtMember(Bytes sought) noexcept : wanted(sought) {}
  bool visit(Bytes name, Kinds its_kinds, Bytes its_text) override {
    if (name != wanted) return true;
    is_found = true;
    kinds = its_kinds;
    text = its_text;
    return false;
  }
  bool is_text() const noexcept { return (kinds & kinds_of(Kind::text)) != 0; }
  // The kind of the member; nothing: it is malformed.
  std::optional<Kind> kind() const noexcept {
    if (kinds == 0) return std::nullopt;
    return static_cast<Kind>(std::countr_zero(kinds));
  }

  Bytes wanted;
  bool is_found = false;
  Kinds kinds = 0;
  std::string text = {};
};

// Searches for the discriminator first, which needs one more pass over the object. Nested variants
// cause at most depth_max passes in all.
template <class Node, class V>
Outcome read_variant(Node& node, V& value, const Place& place, Reading& reading) {
  constexpr const auto& description = alternatives_of<V>;
  if (node.kind() != Kind::object) return refuse(node, "object", place, reading);
  SoughtMember sought(description.discriminator);
  const Looked looked = node.look(sought);
  if (looked.is_malformed) return Outcome::stop;
  Outcome outcome = Outcome::refused;
  bool is_known = false;
  for_each_alternative<V>([&](auto index) {
    if (is_known || !sought.is_text() || sought.text != description.names[index]) return;
    is_known = true;
    if (value.index() != index) value.template emplace<index>();
    outcome = read_struct(node, std::get<index>(value), place, reading,
                          DiscriminatorAndUnknown{description.discriminator});
  });
  if (is_known) return outcome;
  if (!looked.is_read && !node.skip()) return Outcome::stop;
  const Place named{.outer = &place, .name = description.discriminator, .is_named = true};
  if (!sought.is_found) return reading.report(named, "is missing");
  if (!sought.is_text()) return reading.mismatch(named, "string", sought.kind(), {});
  return reading.report(named, katana::detail::broken_text(alternative_choices<V>(), sought.text));
}

// ---- values of any shape ----

template <class Node>
Outcome read_any(Node& node, Value& value, const Place& place, Reading& reading);

template <class Node>
Outcome read_any_list(Node& node, Value& value, const Place& place, Reading& reading) {
  List list;
  Place item_place{.outer = &place};
  Outcome all = Outcome::good;
  const Taken taken = node.each_item([&](auto& item) {
    item_place.index = index_of(item, list.size());
    const Outcome outcome = read_any(item, list.emplace_back(), item_place, reading);
    if (outcome != Outcome::good) all = outcome;
    return outcome != Outcome::stop;
  });
  value = std::move(list);
  return taken == Taken::good ? all : Outcome::stop;
}

template <class Node>
Outcome read_any_object(Node& node, Value& value, const Place& place, Reading& reading) {
  Object object;
  Outcome all = Outcome::good;
  const Taken taken = node.each_field([&](auto& key, auto& item) {
    std::string name;
    if (!key.text(name)) return false;
    Value content;
    const Place item_place{.outer = &place, .name = name, .is_named = true};
    const Outcome outcome = read_any(item, content, item_place, reading);
    if (outcome != Outcome::good) all = outcome;
    object.add(std::move(name), std::move(content));
    return outcome != Outcome::stop;
  });
  if (taken != Taken::good) return Outcome::stop;
  if (object.has_duplicates()) return reading.report(place, "a name is there twice");
  value = std::move(object);
  return all;
}

template <class T, class Node>
Outcome read_any_scalar(Node& node, Value& value, const Place& place, Reading& reading) {
  T content{};
  const Outcome outcome = finish_read(node.take(content), node, "a value", place, reading);
  if (outcome == Outcome::good) value = Value(std::move(content));
  return outcome;
}

// Reads an integer. If it does not fit into 64 bits with a sign, it may fit without a sign.
template <class Node>
Outcome read_any_integer(Node& node, Value& value, const Place& place, Reading& reading) {
  std::int64_t integer = 0;
  Taken taken = node.take(integer);
  if (taken == Taken::good) {
    value = Value(integer);
    return Outcome::good;
  }
  std::uint64_t natural = 0;
  if (taken != Taken::malformed) taken = node.take(natural);
  value = Value(natural);
  return finish_read(taken, node, "number of 64 bits", place, reading);
}

template <class Node>
Outcome read_any(Node& node, Value& value, const Place& place, Reading& reading) {
  const std::optional<Kind> kind = node.kind();
  if (!kind) return node.skip() ? Outcome::refused : Outcome::stop;
  switch (*kind) {
    case Kind::null: return node.take_null() ? Outcome::good : Outcome::stop;
    case Kind::boolean: return read_any_scalar<bool>(node, value, place, reading);
    case Kind::integer:
    case Kind::natural: return read_any_integer(node, value, place, reading);
    case Kind::real: return read_any_scalar<double>(node, value, place, reading);
    case Kind::text: return read_any_scalar<std::string>(node, value, place, reading);
    case Kind::octets: return read_any_scalar<Octets>(node, value, place, reading);
    case Kind::list: return read_any_list(node, value, place, reading);
    case Kind::object: break;
  }
  return read_any_object(node, value, place, reading);
}

// ---- alternatives that are not told apart by a member ----

template <std::size_t index, class T>
auto& become(T& value) {
  if (value.index() != index) value.template emplace_at<index>();
  return value.template get<index>();
}

template <class P, class Node, class T>
Outcome read_any_text(Node& node, T& value, const Place& place, Reading& reading) {
  std::string text;
  const Outcome outcome = finish_read(node.take(text), node, "string", place, reading);
  if (outcome != Outcome::good) return outcome;
  bool is_read = false;
  std::string expected;
  const auto expect = [&expected](Bytes words) {
    expected.append(expected.empty() ? "" : ", or ").append(words);
  };
  for_each_choice<T>([&](auto index) {
    using A = ChoiceOf<T, index>;
    if (is_read) return;
    if constexpr (TextMember<A>) {
      become<index>(value) = std::move(text);
      is_read = true;
    } else if constexpr (DescribedEnum<A>) {
      const std::optional<A> found = enumerator_from<A>(text);
      if (found) become<index>(value) = *found;
      is_read = found.has_value();
      if (!is_read) expect(enumerator_choices<A>());
    } else if constexpr (TextFormed<A>) {
      std::optional<A> parsed = TextForm<A>::parse(text);
      is_read = parsed.has_value();
      if (is_read) become<index>(value) = *std::move(parsed);
      if (!is_read) expect(TextForm<A>::expected);
    }
  });
  if (is_read) return outcome;
  const Bytes shown = P::rules.secret ? Bytes() : Bytes(text);
  return reading.report(place, katana::detail::broken_text(expected, shown));
}

// Fills a value from an object without members.
template <class T>
Outcome read_empty_object(T& value, const Place& place, Reading& reading) {
  if constexpr (is_box<T>) {
    return read_empty_object(value.emplace(), place, reading);
  } else if constexpr (Described<T>) {
    constexpr bool requires_any = [] {
      for (const bool required : required_names<T>) {
        if (required) return true;
      }
      return false;
    }();
    if (!requires_any) return Outcome::good;
    return report_missing<T>(Seen<T>(), place, reading);
  } else if constexpr (DescribedVariant<T>) {
    const Bytes name = alternatives_of<T>.discriminator;
    return reading.report({.outer = &place, .name = name, .is_named = true}, "is missing");
  } else {
    value = T();
    return Outcome::good;
  }
}

// Reads the names first, as read_variant() does.
template <class Node, class T>
Outcome read_best_object(Node& node, T& value, const Place& place, Reading& reading) {
  ObjectChoice<T> choice;
  const Looked looked = node.look(choice);
  if (looked.is_malformed) return Outcome::stop;
  const std::size_t best = choice.best();
  Outcome outcome = Outcome::refused;
  for_each_choice<T>([&](auto index) {
    using A = ChoiceOf<T, index>;
    if constexpr ((kinds<A>() & kinds_of(Kind::object)) != 0) {
      if (index != best) return;
      outcome = looked.is_read
                    ? read_empty_object(become<index>(value), place, reading)
                    : read_value<WithoutRules<A>>(node, become<index>(value), place, reading);
    }
  });
  return outcome;
}

// The kind of a node. If it may be read as several kinds, one of `wanted`.
template <class Node>
std::optional<Kind> kind_among(Node& node, Kinds wanted) {
  if constexpr (requires { node.kind_among(wanted); }) {
    return node.kind_among(wanted);
  } else {
    return node.kind();
  }
}

template <class P, class Node, class T>
Outcome read_any_of(Node& node, T& value, const Place& place, Reading& reading) {
  static_assert(
      can_be_chosen<T>(),
      "a katana::AnyOf has at most one alternative of each kind: integers, other numbers, "
      "lists, dictionaries, and either text or bytes (which are text in JSON)");
  const std::optional<Kind> kind = kind_among(node, kinds<T>());
  const Kinds wanted = kind ? kinds_of(*kind) : Kinds{0};
  if ((kinds<T>() & wanted) == 0) return refuse(node, choice_words<T>(), place, reading);
  if constexpr (count_choices<T>(kinds_of(Kind::object)) > 1) {
    if (*kind == Kind::object) return read_best_object(node, value, place, reading);
  }
  if constexpr (count_choices<T>(kinds_of(Kind::text)) > 1) {
    if (*kind == Kind::text) return read_any_text<P>(node, value, place, reading);
  }
  Outcome outcome = Outcome::refused;
  bool is_chosen = false;
  const auto read = [&](auto index, bool any_number) {
    using A = ChoiceOf<T, index>;
    const bool is_real = (kinds<A>() & kinds_of(Kind::real)) != 0;
    if (is_chosen || (kinds<A>() & wanted) == 0 || is_real != any_number) return;
    is_chosen = true;
    outcome = read_value<WithoutRules<A>>(node, become<index>(value), place, reading);
  };
  // A number without a fraction is for the integer type, if there is one.
  for_each_choice<T>([&](auto index) { read(index, false); });
  for_each_choice<T>([&](auto index) { read(index, true); });
  return outcome;
}

// ---- all types ----

template <class P, class Node, class T>
[[gnu::always_inline]] inline Outcome read_kind(Node& node, T& value, const Place& place,
                                                Reading& reading) {
  if constexpr (std::same_as<T, bool>) {
    return finish_read(node.take(value), node, "boolean", place, reading);
  } else if constexpr (NumberMember<T>) {
    return read_number(node, value, place, reading);
  } else if constexpr (TextMember<T>) {
    return finish_read(node.take(value), node, "string", place, reading);
  } else if constexpr (BytesMember<T>) {
    return finish_read(node.take(value), node, Node::octets_words, place, reading);
  } else if constexpr (DescribedEnum<T>) {
    return read_enumerator(node, value, place, reading);
  } else if constexpr (TextFormed<T>) {
    return read_text_form<P>(node, value, place, reading);
  } else if constexpr (std::same_as<Node, JsonNode> && DeclaredJson<T>) {
    return katana_read_json(node, value, place, reading, std::type_identity<T>());
  } else if constexpr (std::same_as<Node, FormNode> && DeclaredForm<T>) {
    return katana_read_form(node, value, place, reading, std::type_identity<T>());
  } else if constexpr (Described<T>) {
    return read_struct(node, value, place, reading);
  } else if constexpr (DescribedVariant<T>) {
    return read_variant(node, value, place, reading);
  } else if constexpr (is_any_of<T>) {
    return read_any_of<P>(node, value, place, reading);
  } else if constexpr (is_box<T>) {
    using Content = typename T::element_type;
    return read_value<WithoutRules<Content>>(node, value ? *value : value.emplace(), place,
                                             reading);
  } else if constexpr (DictionaryMember<T>) {
    return read_dictionary<P>(node, value, place, reading);
  } else if constexpr (ListMember<T>) {
    return read_list<P>(node, value, place, reading);
  } else if constexpr (requires { node.take_file(value); }) {
    return finish_read(node.take_file(value), node, "file", place, reading);
  } else {
    static_assert(
        std::same_as<T, Value>,
        "no reader for this type: describe it (KATANA_DESCRIBE), or give it a katana::TextForm");
    return read_any(node, value, place, reading);
  }
}

template <class P, class Node, class T>
inline Outcome read_value(Node& node, T& value, const Place& place, Reading& reading) {
  if constexpr (is_optional<T>) {
    if (!P::rules.not_null && node.is_null()) {
      value = std::nullopt;
      return node.take_null() ? Outcome::good : Outcome::stop;
    }
    return read_value<P>(node, value ? *value : value.emplace(), place, reading);
  } else {
    const Outcome outcome = read_kind<P>(node, value, place, reading);
    if constexpr (P::rules.check_value()) {
      if (outcome == Outcome::good && !obeys(P::rules, value)) [[unlikely]] {
        return reading.report(place, broken_rule(P::rules, value));
      }
    }
    return outcome;
  }
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
