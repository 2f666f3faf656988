// TextForm: how a type is written and read as text. One specialisation serves path, query, header
// and cookie parameters, JSON, MessagePack, columns and parameters of SQL, configuration, and JSON
// Schema.
//
//   template <>
//   struct katana::TextForm<Colour> {
//     static constexpr Bytes expected = "a colour such as #ff8000";  // ends "expected …, got …"
//     static constexpr Bytes schema_format = "color";  // of JSON Schema; may be left out, as may
//     static constexpr Bytes schema_pattern = "^#…$";  // ECMA 262
//     static std::optional<Colour> parse(Bytes text);
//     static std::string write(const Colour& colour);  // what parse() reads as the same value
//   };
//
// There are forms for Uuid, Decimal, Date, and std::chrono's time points of the system clock and
// durations (base/values/uuid.hpp, base/values/decimal.hpp, base/values/timestamp.hpp,
// base/values/duration_text.hpp).
//
// Owns       ShortText its bytes.
// Thread     parse() and write() are called from any.
// Allocates  what a form does; those of katana return a ShortText, and nothing.
// Fails      parse() with nothing; its reader says what was expected, or what misfit(text) says.
#pragma once

#include <algorithm>
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
  // REQUIRES that it fits.
  constexpr explicit ShortText(Bytes text) noexcept
      : size_(static_cast<std::uint8_t>(text.size())) {
    std::copy(text.begin(), text.end(), octets_.begin());
  }
  constexpr void push_back(char c) noexcept { octets_[size_++] = c; }
  constexpr void append(Bytes text) noexcept {
    std::copy(text.begin(), text.end(), octets_.begin() + size_);
    size_ = static_cast<std::uint8_t>(size_ + text.size());
  }
  constexpr operator Bytes() const noexcept {
    // Without this g++ 14 warns of code for longer texts that it inlines and cannot rule out.
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

// What write() returns.
template <TextFormed T>
using WrittenText = decltype(TextForm<T>::write(std::declval<const T&>()));

// "uuid" of {"type": "string", "format": "uuid"}; empty: the form has none.
template <TextFormed T>
constexpr Bytes schema_format_of() noexcept {
  if constexpr (requires { TextForm<T>::schema_format; }) {
    return TextForm<T>::schema_format;
  } else {
    return {};
  }
}

// Whether a number of JSON, MessagePack or a column may stand for the text, as it is written there.
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
