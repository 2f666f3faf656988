// read_scalar() and write_scalar(): read and write a member that is a single value, as text.
//
// Owns       nothing.
// Thread     any.
// Allocates  the returned text.
// Fails      read_scalar() returns the words that follow "expected"; empty: the value was read.
// Invariant  the output of write_scalar() is YAML that reads as the same value.
#pragma once

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/data/config/node.hpp"
#include "katana/data/config/units.hpp"

namespace katana::config {

// The text, in double quotes if YAML could read it as another value.
std::string quoted_if_needed(Bytes text);

namespace detail {

// The result of read_digits(), which reads a whole number in decimal, 0x or 0o.
enum class Digits : std::uint8_t { read, none, too_large };
Digits read_digits(Bytes text, bool& negative, std::uint64_t& magnitude);
// ", got 'x'", or ", got " with the kind of a node that is no text.
std::string got(const Node& node);

}  // namespace detail

// An enumerator without its type: its value as an unsigned number.
struct EnumeratorValue {
  std::uint64_t value;  // converted to unsigned, as by static_cast
  Bytes name;           // name in the description; a literal
};
// The enumerators of E, in the order of its description.
template <DescribedEnum E>
inline constexpr auto enumerator_values = [] {
  constexpr std::uint64_t bytes = ~std::uint64_t{} >> (64 - 8 * sizeof(E));
  std::array<EnumeratorValue, enumerators_of<E>.size()> values{};
  for (std::size_t index = 0; index < values.size(); ++index) {
    const Enumerator<E>& each = enumerators_of<E>[index];
    values[index] = {static_cast<std::uint64_t>(each.value) & bytes, each.name};
  }
  return values;
}();

namespace detail {

// The names for a message: "one of guest, administrator".
std::string words_of_names(std::span<const EnumeratorValue> names);
// As read_scalar() and write_scalar(), for an enumeration of `size` bytes.
std::string read_name(const Node& node, std::span<const EnumeratorValue> names, std::size_t size,
                      void* value);
std::string write_name(std::span<const EnumeratorValue> names, std::size_t size, const void* value);

}  // namespace detail

// A type that is written as one text in the configuration.
template <class T>
concept Scalar = std::same_as<T, bool> || NumberMember<T> || TextMember<T> || DescribedEnum<T> ||
                 TextFormed<T> || std::same_as<T, Duration> || std::same_as<T, ByteCount>;

// The expected input for a T: "true or false".
template <Scalar T>
std::string scalar_words() {
  if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (std::integral<T>) {
    return fmt::format("a whole number from {} to {}", +std::numeric_limits<T>::min(),
                       +std::numeric_limits<T>::max());
  } else if constexpr (std::floating_point<T>) {
    return "a number";
  } else if constexpr (DescribedEnum<T>) {
    return detail::words_of_names(enumerator_values<T>);
  } else if constexpr (TextFormed<T>) {
    return std::string(Bytes(TextForm<T>::expected));
  } else if constexpr (std::same_as<T, Duration>) {
    return "a duration such as 30s or 1500ms";
  } else if constexpr (std::same_as<T, ByteCount>) {
    return "an amount of memory such as 16KiB or 10MB";
  } else {
    return "text";
  }
}

namespace detail {

template <std::integral T>
bool read_integer(Bytes text, T& value) {
  bool negative = false;
  std::uint64_t magnitude = 0;
  if (read_digits(text, negative, magnitude) != Digits::read) return false;
  if (!negative) {
    if (!std::in_range<T>(magnitude)) return false;
    value = static_cast<T>(magnitude);
    return true;
  }
  if constexpr (std::is_unsigned_v<T>) {
    if (magnitude != 0) return false;
    value = 0;
    return true;
  } else {
    if (magnitude > std::uint64_t{1} << 63) return false;
    const auto number = static_cast<std::int64_t>(-magnitude);
    if (!std::in_range<T>(number)) return false;
    value = static_cast<T>(number);
    return true;
  }
}

template <std::floating_point T>
bool read_number(Bytes text, T& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

template <Scalar T>
std::string read_text(const Node& node, T& value) {
  const auto wrong = [&node] { return scalar_words<T>() + got(node); };
  if (node.kind != Node::Kind::text) return wrong();
  const Bytes text = node.text;
  if constexpr (TextMember<T>) {
    value = node.text;
    return {};
  } else if constexpr (TextFormed<T>) {
    auto parsed = TextForm<T>::parse(text);
    if (!parsed) return wrong();
    value = *std::move(parsed);
    return {};
  } else if constexpr (std::same_as<T, Duration> || std::same_as<T, ByteCount>) {
    const auto read = [text] {
      if constexpr (std::same_as<T, Duration>)
        return read_duration(text);
      else
        return read_byte_count(text);
    }();
    if (read) value = *read;
    return read ? std::string() : std::string(read.error().message());
  } else if (node.quoted) {
    return fmt::format("{}, got the text '{}': leave out the quotes", scalar_words<T>(), text);
  } else if constexpr (std::same_as<T, bool>) {
    if (text != "true" && text != "false") return wrong();
    value = text == "true";
    return {};
  } else if constexpr (std::integral<T>) {
    return read_integer(text, value) ? std::string() : wrong();
  } else {
    return read_number(text, value) ? std::string() : wrong();
  }
}

}  // namespace detail

template <Scalar T>
std::string read_scalar(const Node& node, T& value) {
  if constexpr (DescribedEnum<T>) {
    return detail::read_name(node, enumerator_values<T>, sizeof(T), &value);
  } else {
    return detail::read_text(node, value);
  }
}
template <Scalar T>
std::string write_scalar(const T& value) {
  if constexpr (TextMember<T>) {
    return quoted_if_needed(value);
  } else if constexpr (DescribedEnum<T>) {
    return detail::write_name(enumerator_values<T>, sizeof(T), &value);
  } else if constexpr (TextFormed<T>) {
    return quoted_if_needed(TextForm<T>::write(value));
  } else if constexpr (std::same_as<T, Duration>) {
    return write_duration(value);
  } else if constexpr (std::same_as<T, ByteCount>) {
    return write_byte_count(value);
  } else if constexpr (sizeof(T) == 1 && std::integral<T> && !std::same_as<T, bool>) {
    return fmt::format("{}", +value);
  } else {
    return fmt::format("{}", value);
  }
}

// The same for a member. With `byte_count` it is read and written as a ByteCount.
template <Scalar T>
std::string read_counted(bool byte_count, const Node& node, T& value) {
  if constexpr (std::unsigned_integral<T> && !std::same_as<T, bool>) {
    if (byte_count) {
      ByteCount amount;
      if (auto words = read_scalar(node, amount); !words.empty()) return words;
      if (!std::in_range<T>(amount.bytes)) {
        return fmt::format("at most {}, got {}", write_byte_count({std::numeric_limits<T>::max()}),
                           write_byte_count(amount));
      }
      value = static_cast<T>(amount.bytes);
      return {};
    }
  }
  return read_scalar(node, value);
}

// Writes a value, with `byte_count` in the largest unit that fits: "64KiB". Otherwise as
// write_scalar().
template <Scalar T>
std::string write_counted(bool byte_count, const T& value) {
  if constexpr (std::unsigned_integral<T> && !std::same_as<T, bool>) {
    if (byte_count) return write_byte_count({value});
  }
  return write_scalar(value);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
