// Rules: properties of a member beyond its type, in the description of its struct
// (base/values/described.hpp).
//
//   required, defaulted     absent input is an error; absent input leaves the initialiser's value
//   length(1, 80)           characters of text (code points), items of a list, or bytes
//   range(0, 150), at_least(0), at_most(9)
//   pattern("[a-z]+")       matches the whole text; the syntax is in base/values/pattern.hpp
//   format::email, format::uuid, format::date_time, format::date
//   not_null                for a Patch (base/values/patch.hpp): null is refused, absent is not
//   satisfies(f, "an even number")   any bool(const Member&)
//   each(length(1, 20))     the same for each item of a list or value of a dictionary
//   named("e-mail")         the name in JSON, configuration or a table instead of the member's name
//   secret                  not repeated in messages; configuration and logs do not show it
//   byte_count              a whole number of bytes, which people may write as 16KiB
//   reloadable              may change while the program runs
//   deprecated              still read and written; new clients should leave it out
//   help("…")               an explanation for people who set the member
//
// Rules apply to the value in a std::optional or Patch member. An empty one breaks no rule.
//
// Owns       nothing: names, patterns and sentences are literals.
// Thread     a value.
// Allocates  only the message of a broken rule.
// Fails      a rule that does not fit the member's type, or fits no value, does not compile.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/formats.hpp"
#include "katana/base/values/pattern.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana {

// ---- kinds of members ----

// The type of the value of a member, without std::optional or Patch.
template <class T>
struct OptionalOf {
  using Value = T;                            // type without the wrapper
  static constexpr bool is_optional = false;  // true for std::optional and Patch
};
template <class T>
struct OptionalOf<std::optional<T>> {
  using Value = T;
  static constexpr bool is_optional = true;
};
// A member of a merge patch: absent, null, or a value (base/values/patch.hpp).
template <class T>
class Patch;
// True if T is a Patch.
template <class T>
inline constexpr bool is_patch = false;
template <class T>
inline constexpr bool is_patch<Patch<T>> = true;
template <class T>
struct OptionalOf<Patch<T>> {
  using Value = T;
  static constexpr bool is_optional = true;
};
// True for std::optional and Patch, which accept null.
template <class T>
inline constexpr bool is_optional = OptionalOf<T>::is_optional;
// T without std::optional or Patch.
template <class T>
using WithoutOptional = typename OptionalOf<T>::Value;

// A value on the heap (base/values/box.hpp).
template <class T>
class Box;
// True if T is a Box.
template <class T>
inline constexpr bool is_box = false;
template <class T>
inline constexpr bool is_box<Box<T>> = true;
// A value of one of several types that does not name its type (base/values/any_of.hpp).
template <class... A>
class AnyOf;
// True if T is an AnyOf.
template <class T>
inline constexpr bool is_any_of = false;
template <class... A>
inline constexpr bool is_any_of<AnyOf<A...>> = true;

// Text of a described struct: only std::string.
template <class T>
concept TextMember = std::same_as<T, std::string>;
// Bytes of a described struct; base64 in JSON.
template <class T>
concept BytesMember = std::same_as<T, std::vector<std::byte>>;
// True if T is a std::vector<std::pair<std::string, …>>: a dictionary in the order of insertion.
template <class T>
inline constexpr bool is_vector_of_pairs = false;
template <class V>
inline constexpr bool is_vector_of_pairs<std::vector<std::pair<std::string, V>>> = true;
// A dictionary with text as keys: std::map, std::unordered_map, or a vector of pairs.
template <class T>
concept DictionaryMember = is_vector_of_pairs<T> || requires {
  requires std::same_as<typename T::key_type, std::string>;
  typename T::mapped_type;
};
// Text and lists that a struct borrows. Writers take them, for replies with borrowed data, and
// readers do not.
template <class T>
concept BorrowedText = std::same_as<T, std::string_view>;
template <class T>
concept BorrowedList = std::same_as<T, std::span<typename T::element_type>>;
// A list: any container with push_back(), such as std::vector.
template <class T>
concept ListMember = !TextMember<T> && !BytesMember<T> && !DictionaryMember<T> &&
                     requires(T list, typename T::value_type item) {
                       list.push_back(std::move(item));
                       list.size();
                     };
// True if T is a std::variant.
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;
// A number of at most 64 bits; bool does not count as one.
template <class T>
concept NumberMember =
    (std::integral<T> || std::floating_point<T>) && !std::same_as<T, bool> && sizeof(T) <= 8;

namespace detail {

template <class T>
struct ElementType {};
template <ListMember T>
struct ElementType<T> {
  using Type = typename T::value_type;
};
template <DictionaryMember T>
struct ElementType<T> {
  using Type = std::remove_cvref_t<decltype(std::declval<T&>().begin()->second)>;
};

}  // namespace detail

// The type of the items of a list or of the values of a dictionary.
template <class T>
using ElementOf = typename detail::ElementType<T>::Type;

// ---- what is said ----

// The treatment of a member that is absent from the input.
enum class Presence : std::uint8_t {
  by_type,    // the reader decides: JSON wants every member that is not a std::optional
  required,   // an error
  defaulted,  // the value of the struct's initialiser stays
};

template <class T>
struct Rules;

namespace detail {

struct NoRules {
  constexpr bool check() const noexcept { return false; }
};
// Types that a range can bound: numbers, and small ordered values such as Duration and Decimal.
template <class T>
concept Bounded =
    NumberMember<T> ||
    (!std::is_same_v<T, bool> && !is_variant<T> && !is_any_of<T> && !is_box<T> && sizeof(T) <= 32 &&
     std::is_trivially_copyable_v<T> && std::default_initializable<T> && std::totally_ordered<T>);
// An optional bound. It is no std::optional, to save memory of the compiler: each enumeration of a
// large OpenAPI description has a separate type of rules.
template <class T>
class Bound {
 public:
  constexpr Bound() = default;
  constexpr Bound(T value) : value_(value), is_there_(true) {}  // NOLINT: implicit on purpose
  constexpr bool has_value() const noexcept { return is_there_; }
  constexpr explicit operator bool() const noexcept { return is_there_; }
  // REQUIRES has_value().
  constexpr const T& operator*() const noexcept { return value_; }
  friend constexpr bool operator==(const Bound&, const Bound&) = default;

 private:
  T value_{};
  bool is_there_ = false;
};
template <class T>
struct BoundOf {
  using Type = NoRules;
};
template <Bounded T>
struct BoundOf<T> {
  using Type = Bound<T>;
};
template <class T>
struct EachOf {
  using Type = NoRules;
};
template <class T>
  requires ListMember<T> || DictionaryMember<T>
struct EachOf<T> {
  using Type = Rules<WithoutOptional<ElementOf<T>>>;
};

}  // namespace detail

// The rules of a member. T is the member's type without std::optional.
template <class T>
struct Rules {
  static constexpr std::size_t unlimited = SIZE_MAX;  // value of length_max without a limit

  typename detail::BoundOf<T>::Type least = {};  // empty: no lower bound
  typename detail::BoundOf<T>::Type most = {};   // empty: no upper bound
  std::size_t length_min = 0;                    // code points of text, bytes, or elements
  std::size_t length_max = unlimited;            // as length_min
  Bytes pattern = {};                            // empty: any text; see pattern.hpp
  Format format = Format::none;                  // none: any text
  bool (*satisfies)(const T&) = nullptr;         // null: no function checks the member
  Bytes satisfies_words = {};                    // the expected value, for "expected …"
  typename detail::EachOf<T>::Type each = {};    // rules of the elements of a list or dictionary

  Presence presence = Presence::by_type;  // by_type: the reader decides
  bool secret = false;                    // the value is shown neither in logs nor in messages
  bool reloadable = false;                // the value may change while the program runs
  bool byte_count = false;                // text such as 16KiB is read as a number of bytes
  bool not_null = false;                  // for a Patch: null is an error
  bool deprecated = false;                // OpenAPI tells new clients not to use it
  Bytes help = {};                        // for configuration and OpenAPI; empty: none
  Bytes name = {};                        // empty: the member's name

  // True if a value or one of its items can break a rule.
  constexpr bool check() const noexcept { return check_value() || each.check(); }
  // True if the value itself can break a rule.
  constexpr bool check_value() const noexcept {
    bool bounds = false;
    if constexpr (detail::Bounded<T>) bounds = least.has_value() || most.has_value();
    return bounds || check_length() || !pattern.empty() || format != Format::none ||
           satisfies != nullptr;
  }
  constexpr bool check_length() const noexcept {
    return length_min != 0 || length_max != unlimited;
  }
};

// ---- checking ----

// The number of code points of text; size() of other values.
template <class T>
std::size_t length_of(const T& value) noexcept {
  if constexpr (TextMember<T>) {
    return count_code_points(value);
  } else {
    return value.size();
  }
}

// True if `value` breaks none of the rules. The items of `value` are not checked.
template <class T>
constexpr bool obeys(const Rules<T>& rules, const T& value) noexcept {
  if constexpr (detail::Bounded<T>) {
    // In this form NaN is out of every range.
    if (rules.least && !(value >= *rules.least)) return false;
    if (rules.most && !(value <= *rules.most)) return false;
  }
  if constexpr (TextMember<T>) {
    if (!rules.pattern.empty() && !Pattern(rules.pattern).matches(value)) return false;
    if (!is_format(rules.format, value)) return false;
  }
  if constexpr (requires { value.size(); }) {
    // A character has one to four bytes. The size in bytes is therefore often enough to decide.
    if (value.size() < rules.length_min) return false;
    if (value.size() > rules.length_max || rules.length_min > 1) {
      const std::size_t length = length_of(value);
      if (length < rules.length_min || length > rules.length_max) return false;
    }
  }
  return rules.satisfies == nullptr || rules.satisfies(value);
}

namespace detail {

// The message of a broken length: "expected 1 to 80 characters, got 0".
std::string broken_length(std::size_t least, std::size_t most, std::size_t length, Bytes unit);
std::string broken_text(Bytes expected, Bytes text);

template <class T>
std::string broken_bound(const Rules<T>& rules, const T& value) {
  if constexpr (TextFormed<T>) {
    const auto text = [](const T& each) { return std::string(Bytes(TextForm<T>::write(each))); };
    std::string words = "expected ";
    if (!rules.least) words += "at most ";
    if (!rules.most) words += "at least ";
    if (rules.least) words += text(*rules.least);
    if (rules.least && rules.most) words += " to ";
    if (rules.most) words += text(*rules.most);
    return words + ", got " + text(value);
  } else if constexpr (fmt::is_formattable<T>::value) {
    if (rules.least && rules.most) {
      return fmt::format("expected {} to {}, got {}", *rules.least, *rules.most, value);
    }
    if (rules.least) return fmt::format("expected at least {}, got {}", *rules.least, value);
    return fmt::format("expected at most {}, got {}", *rules.most, value);
  } else {
    return "out of the range that is allowed";
  }
}

}  // namespace detail

// The replacement for a secret value in printed configuration and in logs.
inline constexpr Bytes hidden_value = "***";

// The message for a value that breaks a rule: "expected at most 9, got 12". The message for a
// secret leaves out the value.
template <class T>
std::string broken_rule(const Rules<T>& rules, const T& value) {
  if constexpr (detail::Bounded<T>) {
    const bool low = rules.least && !(value >= *rules.least);
    if (low || (rules.most && !(value <= *rules.most))) {
      return rules.secret ? "out of the range that is allowed" : detail::broken_bound(rules, value);
    }
  }
  if constexpr (requires { value.size(); }) {
    const std::size_t length = length_of(value);
    if (length < rules.length_min || length > rules.length_max) {
      constexpr Bytes unit = TextMember<T> ? "character" : BytesMember<T> ? "byte" : "item";
      return detail::broken_length(rules.length_min, rules.length_max, length, unit);
    }
  }
  if constexpr (TextMember<T>) {
    const Bytes shown = rules.secret ? Bytes() : Bytes(value);
    if (!is_format(rules.format, value)) {
      return detail::broken_text(format_words(rules.format), shown);
    }
    if (!rules.pattern.empty() && !Pattern(rules.pattern).matches(value)) {
      return detail::broken_text(fmt::format("text of the form {}", rules.pattern), shown);
    }
  }
  return fmt::format("expected {}", rules.satisfies_words);
}

// ---- the words of a description ----

namespace rules {

// Type of the mark `required`.
struct Required {
  // Sets Rules::presence.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    to.presence = Presence::required;
  }
};
// Type of the mark `defaulted`.
struct Defaulted {
  // Sets Rules::presence.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    to.presence = Presence::defaulted;
  }
};
// Type of the mark `secret`.
struct Secret {
  // Sets Rules::secret.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    to.secret = true;
  }
};
// Type of the mark `reloadable`.
struct Reloadable {
  // Sets Rules::reloadable.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    to.reloadable = true;
  }
};
// Type of the mark `byte_count`.
struct CountsBytes {
  // Sets Rules::byte_count. T is an unsigned integer.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    static_assert(std::unsigned_integral<T> && !std::same_as<T, bool>,
                  "byte_count is for unsigned whole numbers");
    to.byte_count = true;
  }
};
// Type of the mark `not_null`.
struct NotNull {
  // Sets Rules::not_null.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    to.not_null = true;
  }
};
// Type of the mark `deprecated`.
struct Deprecated {
  // Sets Rules::deprecated.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    to.deprecated = true;
  }
};
// Marks of members without arguments; Rules explains each.
inline constexpr Deprecated deprecated;
inline constexpr CountsBytes byte_count;
inline constexpr NotNull not_null;
inline constexpr Required required;
inline constexpr Defaulted defaulted;
inline constexpr Secret secret;
inline constexpr Reloadable reloadable;

// Type of the mark named().
struct Named {
  Bytes name;  // not empty
  // Sets Rules::name.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    if (name.empty()) throw "named: an empty name";
    to.name = name;
  }
};
// Marks a member with another name than its own in JSON, configuration and tables.
consteval Named named(const char* name) { return {name}; }

// Type of the mark help().
struct Help {
  Bytes sentence;  // without a full stop
  // Sets Rules::help.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    to.help = sentence;
  }
};
// Marks a member with the text that configuration and OpenAPI show for it.
consteval Help help(const char* sentence) { return {sentence}; }

// Type of the mark length().
struct Length {
  std::size_t least;  // smallest length that is allowed
  std::size_t most;   // largest length that is allowed
  // Sets Rules::length_min and length_max.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    static_assert(
        requires(const T& value) { value.size(); },
        "length is for text, bytes, lists and dictionaries");
    if (least > most) throw "length: the least is above the most";
    to.length_min = least;
    to.length_max = most;
  }
};
// Marks text (code points), bytes, a list or a dictionary with the lengths that it may have.
consteval Length length(std::size_t least, std::size_t most) { return {least, most}; }

// Replaces a bound that a Range does not have.
struct NoBound {};
// Type of the marks range(), at_least() and at_most().
template <class Least, class Most>
struct Range {
  Least least;  // smallest value that is allowed
  Most most;    // largest value that is allowed

  // The bound in the member's type. A bound that does not fit does not compile.
  template <class T, class Bound>
  static constexpr T bound(Bound value) {
    if constexpr (std::integral<T> && std::integral<Bound>) {
      if (!std::in_range<T>(value)) throw "range: a bound that the member's type cannot hold";
    }
    return static_cast<T>(value);
  }
  // Sets Rules::least and Rules::most.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    static_assert(detail::Bounded<T>, "range, at_least and at_most are for numbers and durations");
    if constexpr (!std::same_as<Least, NoBound>) to.least = bound<T>(least);
    if constexpr (!std::same_as<Most, NoBound>) to.most = bound<T>(most);
    if (to.least && to.most && *to.least > *to.most) throw "range: the least is above the most";
  }
};
// Marks a number or duration with both bounds; they are allowed values.
template <class Least, class Most>
consteval Range<Least, Most> range(Least least, Most most) {
  return {least, most};
}
// Marks a number or duration with its smallest allowed value.
template <class Least>
consteval Range<Least, NoBound> at_least(Least least) {
  return {least, {}};
}
// Marks a number or duration with its largest allowed value.
template <class Most>
consteval Range<NoBound, Most> at_most(Most most) {
  return {{}, most};
}

// Type of the mark pattern().
struct MatchesPattern {
  Bytes source;  // see pattern.hpp
  // Sets Rules::pattern. A malformed pattern does not compile.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    static_assert(TextMember<T>, "pattern is for std::string");
    if (source.empty() || !Pattern(source).valid())
      throw "pattern: malformed, see base/values/pattern.hpp";
    to.pattern = source;
  }
};
// Marks text that must match the pattern as a whole.
consteval MatchesPattern pattern(const char* source) { return {source}; }

// Type of the marks format::email, format::uuid, format::date_time and format::date.
struct HasFormat {
  Format format;  // never Format::none
  // Sets Rules::format.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    static_assert(TextMember<T>, "a format is for std::string");
    to.format = format;
  }
};
namespace format {
inline constexpr HasFormat email{Format::email};  // a mailbox such as ada@example.org
inline constexpr HasFormat uuid{Format::uuid};    // 8-4-4-4-12 hexadecimal digits (RFC 9562)
inline constexpr HasFormat date_time{Format::date_time};  // 2026-11-23T21:12:28Z (RFC 3339)
inline constexpr HasFormat date{Format::date};            // 2026-11-23 (RFC 3339)
}  // namespace format

// Type of the mark satisfies().
template <class F>
struct Satisfies {
  F f;          // bool(const Member&)
  Bytes words;  // the expected value, for "expected …"
  // Sets Rules::satisfies and satisfies_words.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    to.satisfies = f;
    to.satisfies_words = words;
  }
};
// `f` is a function or a lambda without captures that takes a const Member&; `words` end the
// sentence "expected …".
template <class F>
consteval Satisfies<F> satisfies(F f, const char* words) {
  return {f, words};
}

// Type of the mark each().
template <class... Marks>
struct Each {
  std::tuple<Marks...> marks;  // marks of the elements
  // Sets Rules::each.
  template <class T>
  constexpr void apply(Rules<T>& to) const {
    static_assert(ListMember<T> || DictionaryMember<T>, "each is for lists and dictionaries");
    std::apply([&to](const auto&... mark) { (mark.apply(to.each), ...); }, marks);
  }
};
// Marks a list or dictionary with rules that each of its elements must meet.
template <class... Marks>
consteval Each<Marks...> each(Marks... marks) {
  return {{marks...}};
}

}  // namespace rules
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
