// Value: a parameter of a statement, or a column of its result.
//
// Owns       nothing: text and blobs are borrowed, a parameter's until the call that takes it
//            returns, a column's until the next row.
// Thread     a value.
// Allocates  never.
// Fails      a type that is no parameter does not compile.
//
// These types are parameters:
//
//   integers up to 64 bits signed, bool, floating point
//   enumerations                       a described one as its name, any other as its number
//   text                               each type that is a std::string_view, and Text
//   a type with a TextForm             its text: Uuid, Timestamp, Decimal …
//   blobs                              spans and vectors of std::byte
//   other vectors                      see array_text.hpp
//   std::optional of any of these, nullptr
//   a described struct, a std::tuple   stands for its members
//
// A described struct that is a member or an element is one value (composite_text.hpp). SQLite
// stores NaN as null.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/described.hpp"
#include "katana/stores/database/array_text.hpp"
#include "katana/stores/database/composite_text.hpp"

namespace katana::database {

struct Value {
  // broken: no value, because the bytes of a column do not fit its type; `octets` is a literal that
  // names this. It fits no member.
  enum class Type : std::uint8_t { null, integer, real, text, blob, broken };

  // `number` is signed, 64 bits.
  static constexpr Value of_integer(std::int64_t number) noexcept {
    return {.type = Type::integer, .integer = number};
  }
  // A double; NaN and infinities are passed on.
  static constexpr Value of_real(double number) noexcept {
    return {.type = Type::real, .real = number};
  }
  // Refers to `bytes`, which are UTF-8.
  static constexpr Value of_text(Bytes bytes) noexcept {
    return {.type = Type::text, .octets = bytes};
  }
  // Refers to `bytes`, which are any.
  static constexpr Value of_blob(Bytes bytes) noexcept {
    return {.type = Type::blob, .octets = bytes};
  }
  // `why`: a literal, such as "has bytes that its type does not have".
  static constexpr Value of_broken(const char* why) noexcept {
    return {.type = Type::broken, .octets = why};
  }

  Type type = Type::null;    // which of the members below is set
  std::int64_t integer = 0;  // of Type::integer
  double real = 0;           // of Type::real
  Bytes octets = {};         // of text and blob, and the reason of broken; borrowed
};

namespace detail {

template <class T>
concept Integer =
    std::is_integral_v<T> &&
    (std::is_signed_v<T> || sizeof(T) < sizeof(std::int64_t) || std::is_same_v<T, bool>);
template <class T>
concept Octets = std::is_convertible_v<const T&, std::span<const std::byte>>;
template <class T>
concept Characters = std::is_convertible_v<const T&, std::string_view>;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

template <class T>
inline constexpr bool no_parameter = false;

template <class T>
consteval std::size_t values_in() {
  if constexpr (Described<T>) {
    return field_count<T>;
  } else if constexpr (is_tuple<T>) {
    return std::tuple_size_v<T>;
  } else {
    return 1;
  }
}

// True for a type whose value is a text that is written for the call.
template <class T>
consteval std::size_t texts_in_value() {
  if constexpr (is_optional<T>) {
    return texts_in_value<WithoutOptional<T>>();
  } else {
    return TextFormed<T> || is_array<T> || Described<T> ? 1 : 0;
  }
}
template <class... Elements>
consteval std::size_t texts_in_elements(const std::tuple<Elements...>*) {
  return (texts_in_value<Elements>() + ... + std::size_t{0});
}

// The number of values that are such texts.
template <class T>
consteval std::size_t texts_in() {
  if constexpr (Described<T>) {
    std::size_t count = 0;
    for_each_field<T>(
        [&](const auto& field) { count += texts_in_value<MemberOf<decltype(field)>>(); });
    return count;
  } else if constexpr (is_tuple<T>) {
    return texts_in_elements(static_cast<const T*>(nullptr));
  } else {
    return texts_in_value<T>();
  }
}

// `texts`: where the next text is kept.
template <class T>
constexpr Value value_of(const T& given, [[maybe_unused]] Text*& texts) {
  if constexpr (std::is_null_pointer_v<T> || std::is_same_v<T, std::nullopt_t>) {
    return {};
  } else if constexpr (is_optional<T>) {
    static_assert(!is_patch<T>,
                  "a Patch is no parameter: an absent one would become NULL. Apply it to what was "
                  "read (apply_patch), and write that");
    return given ? value_of(*given, texts) : Value{};
  } else if constexpr (DescribedEnum<T>) {
    const Bytes name = enumerator_name(given);
    KATANA_REQUIRE(name.data() != nullptr);  // an enumerator that its description leaves out
    return Value::of_text(name);
  } else if constexpr (std::is_enum_v<T>) {
    return value_of(static_cast<std::underlying_type_t<T>>(given), texts);
  } else if constexpr (Integer<T>) {
    return Value::of_integer(static_cast<std::int64_t>(given));
  } else if constexpr (std::is_floating_point_v<T>) {
    return Value::of_real(static_cast<double>(given));
  } else if constexpr (TextFormed<T>) {
    *texts = Text(Bytes(TextForm<T>::write(given)));
    return Value::of_text((texts++)->bytes());
  } else if constexpr (is_array<T>) {
    *texts = Text(Bytes(array_text(given)));
    return Value::of_text((texts++)->bytes());
  } else if constexpr (std::is_same_v<T, Text>) {
    return Value::of_text(given.bytes());
  } else if constexpr (Characters<T>) {
    return Value::of_text(given);
  } else if constexpr (Octets<T>) {
    const std::span<const std::byte> octets = given;
    return Value::of_blob({reinterpret_cast<const char*>(octets.data()), octets.size()});
  } else if constexpr (Described<T>) {
    *texts = Text(Bytes(composite_text(given)));
    return Value::of_text((texts++)->bytes());
  } else {
    static_assert(no_parameter<T>,
                  "this type is no SQL parameter. Give a number that fits into 64 bits signed, "
                  "text, a blob (std::span<const std::byte>) or a type with a katana::TextForm. A "
                  "std::optional or a described struct of these, and nullptr, are possible, too");
    return {};
  }
}

// Writes the values that `given` stands for at `out`, and moves it behind them.
template <class T>
constexpr void add_values(const T& given, Value*& out, Text*& texts) {
  if constexpr (Described<T>) {
    for_each_field(given,
                   [&](const auto&, const auto& member) { *out++ = value_of(member, texts); });
  } else if constexpr (is_tuple<T>) {
    std::apply([&](const auto&... element) { ((*out++ = value_of(element, texts)), ...); }, given);
  } else {
    *out++ = value_of(given, texts);
  }
}

}  // namespace detail

// The number of parameters of arguments of these types.
template <class... Arguments>
inline constexpr std::size_t parameters_of =
    (detail::values_in<std::remove_cvref_t<Arguments>>() + ... + 0);
// The number of texts that are written for the call, for arguments of these types.
template <class... Arguments>
inline constexpr std::size_t texts_of =
    (detail::texts_in<std::remove_cvref_t<Arguments>>() + ... + 0);

// The parameters of one call.
template <std::size_t count, std::size_t text_count>
class Parameters {
 public:
  template <class... Arguments>
  explicit Parameters(const Arguments&... arguments) {
    [[maybe_unused]] Value* out = values_.data();
    [[maybe_unused]] Text* texts = texts_.data();
    (detail::add_values(arguments, out, texts), ...);
  }
  Parameters(const Parameters&) = delete;  // values point into texts
  Parameters& operator=(const Parameters&) = delete;
  // One for each $N, in order; valid as long as this object.
  std::span<const Value> values() const noexcept { return values_; }

 private:
  std::array<Value, count> values_;
  [[no_unique_address]] std::array<Text, text_count> texts_;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
