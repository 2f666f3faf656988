// TextForm: writes and reads a type as text. One specialisation serves parameters (path, query,
// header and cookie), JSON, MessagePack, columns and parameters of SQL, configuration, and JSON
// Schema.
//
//   template <>
//   struct katana::TextForm<Colour> {
//     static constexpr Bytes expected = "a colour such as #ff8000";  // ends "expected …, got …"
//
//     static constexpr Bytes schema_format = "color";  // optional; for JSON Schema
//     static constexpr Bytes schema_pattern = "^#…$";  // optional; an expression of ECMA 262
//
//     static std::optional<Colour> parse(Bytes text);
//     static std::string write(const Colour& colour);  // parse() of it gives the same value
//   };
//
// Forms exist for Uuid (base/values/uuid.hpp), Decimal (base/values/decimal.hpp), Date and time
// points of std::chrono's system clock (base/values/timestamp.hpp), and durations
// (base/values/duration_text.hpp).
//
// Owns       ShortText its bytes.
// Thread     parse() and write() are called from any.
// Allocates  as the form does; the forms of KATANA return a ShortText and allocate nothing.
// Fails      parse() returns nothing; the error of its reader has `expected`, or misfit(text).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana {

// Text of at most `bytes_max` bytes, in place.
template <std::size_t bytes_max>
class ShortText {
  static_assert(bytes_max < 256);

 public:
  static constexpr std::size_t size_max = bytes_max;  // bytes that fit
  constexpr ShortText() noexcept = default;
  // Copies `text`. REQUIRES that it fits.
  constexpr explicit ShortText(Bytes text) noexcept
      : size_(static_cast<std::uint8_t>(text.size())) {
    std::char_traits<char>::copy(octets_.data(), text.data(), text.size());
  }
  constexpr void push_back(char c) noexcept { octets_[size_++] = c; }
  constexpr void append(Bytes text) noexcept {
    std::char_traits<char>::copy(octets_.data() + size_, text.data(), text.size());
    size_ = static_cast<std::uint8_t>(size_ + text.size());
  }
  constexpr operator Bytes() const noexcept {
    // Without this g++ 14 inlines code for longer texts, which it cannot exclude, and warns of it.
    if (size_ > bytes_max) __builtin_unreachable();
    return {octets_.data(), size_};
  }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  std::array<char, bytes_max> octets_{};
  std::uint8_t size_ = 0;
};

template <class T>
struct TextForm;

// A type with a TextForm.
template <class T>
concept TextFormed = requires(const T& value, Bytes text) {
  { TextForm<T>::expected } -> std::convertible_to<Bytes>;
  { TextForm<T>::parse(text) } -> std::same_as<std::optional<T>>;
  { TextForm<T>::write(value) } -> std::convertible_to<Bytes>;
};

// The return type of write().
template <TextFormed T>
using WrittenText = decltype(TextForm<T>::write(std::declval<const T&>()));

// The format for JSON Schema, as in {"type": "string", "format": "uuid"}; empty: none.
template <TextFormed T>
constexpr Bytes schema_format_of() noexcept {
  if constexpr (requires { TextForm<T>::schema_format; }) {
    return TextForm<T>::schema_format;
  } else {
    return {};
  }
}

// True if the form also reads a number of JSON, MessagePack or a column, by the text of the number.
template <TextFormed T>
constexpr bool reads_numbers() noexcept {
  if constexpr (requires { TextForm<T>::reads_numbers; }) {
    return TextForm<T>::reads_numbers;
  } else {
    return false;
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
