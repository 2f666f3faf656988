// JsonOf<T, types…>, FormOf<T, types…>, RawOf<types…>, ContentOf<A, B, …>: content that may have
// one of several media types, together with its media type. They are parameters of handlers
// (http/handlers/content_of.hpp) and arguments of generated clients.
//
//   using Change = JsonOf<User, "application/json", "application/merge-patch+json">;
//   using Upload = ContentOf<JsonOf<User, "application/json">, RawOf<"text/csv", "image/*">>;
//
//   Reply change(Change change) { if (change.type == "application/merge-patch+json") … }
//   client.change({user});                                     // the first type that is listed
//   client.change({user, "application/merge-patch+json"});
//   client.upload(RawOf<"text/csv", "image/*">{png, "image/png"});
//
// A type is "type/subtype", "type/*", "type/*+suffix" or "*/*", without parameters, in lower case.
//
// Owns       its values.
// Thread     a value.
// Allocates  its values.
// Fails      a type that is malformed does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "katana/base/text/bytes.hpp"

namespace katana {

// A media type, or a range of them, as an argument of a template: "text/csv", "text/*".
template <std::size_t size>
struct MediaTypeText {
  // Takes a string literal.
  consteval MediaTypeText(const char (&literal)[size]) {
    std::copy_n(literal, size, text.begin());
    std::size_t slashes = 0;
    for (const char c : bytes()) {
      slashes += c == '/' ? 1 : 0;
      const bool upper = c >= 'A' && c <= 'Z';
      if (upper || c <= ' ' || c == ';' || c == ',') {
        throw "a media type is type/subtype in lower case, without parameters";
      }
    }
    if (slashes != 1 || bytes().starts_with('/') || bytes().ends_with('/')) {
      throw "a media type is type/subtype";
    }
  }
  // The text without the terminating zero.
  constexpr Bytes bytes() const noexcept { return {text.data(), size - 1}; }

  std::array<char, size> text{};  // as it stands in the literal
};

namespace detail {

// The media type for content of a range when the caller states none; empty: no type fits.
constexpr Bytes sent_type(Bytes range) noexcept {
  if (range == "*/*") return "application/octet-stream";
  if (range == "text/*") return "text/plain";
  return range.contains('*') ? Bytes() : range;
}

}  // namespace detail

// JSON under one of these media types, which share one schema.
template <class T, MediaTypeText... types>
struct JsonOf {
  static_assert(sizeof...(types) != 0, "JsonOf<T, \"application/json\", …> lists media types");
  // The media types in the order of the list.
  static constexpr std::array<Bytes, sizeof...(types)> media_types{types.bytes()...};
  // The default media type of sent content.
  static constexpr Bytes first_type = detail::sent_type(media_types[0]);

  T value{};                                   // the value that was read or is sent
  std::string type = std::string(first_type);  // media type of the content, in lower case
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

// Raw content under one of these media types.
template <MediaTypeText... types>
struct RawOf {
  static_assert(sizeof...(types) != 0, "RawOf<\"text/csv\", …> lists media types");
  // The media types in the order of the list.
  static constexpr std::array<Bytes, sizeof...(types)> media_types{types.bytes()...};
  // The default media type of sent content; empty: the caller must name one.
  static constexpr Bytes first_type = detail::sent_type(media_types[0]);

  std::string value{};                         // the bytes
  std::string type = std::string(first_type);  // media type of the content, in lower case
};

// A form as a struct, under one or both of these media types: "application/x-www-form-urlencoded",
// "multipart/form-data". http/forms/form_of.hpp reads it.
template <class T, MediaTypeText... types>
struct FormOf {
  // The media types in the order of the list.
  static constexpr std::array<Bytes, sizeof...(types)> media_types{types.bytes()...};
  // The default media type of sent content.
  static constexpr Bytes first_type = media_types[0];

  T value{};                                   // the value that was read or is sent
  std::string type = std::string(first_type);  // media type of the content, in lower case
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

// Content of one of these types: JsonOf, FormOf or RawOf. The most specific media type decides.
template <class... A>
struct ContentOf {
  static_assert(sizeof...(A) > 1, "ContentOf<A, B, …> has alternatives");
  std::variant<A...> value{};  // the alternative with the best match of the media type

  // Holds the first alternative.
  ContentOf() = default;
  // Implicit, to pass an alternative as an argument.
  template <class B>
    requires(std::same_as<B, A> || ...)
  ContentOf(B content) : value(std::move(content)) {}

  // The media type of the alternative, in lower case.
  const std::string& type() const noexcept {
    return std::visit([](const auto& each) -> const std::string& { return each.type; }, value);
  }
  // The alternative B; null: it holds another one.
  template <class B>
  const B* get_if() const noexcept {
    return std::get_if<B>(&value);
  }
  // The same by the index in the list, from 0.
  template <std::size_t index>
  const auto* get_if() const noexcept {
    return std::get_if<index>(&value);
  }
};

// True if T is a JsonOf.
template <class T>
inline constexpr bool is_json_of = false;
template <class T, MediaTypeText... types>
inline constexpr bool is_json_of<JsonOf<T, types...>> = true;

// The quality of the match of `type` with `range`, both in lower case. 3: equal; 2: matched by
// "text/*" or "image/*+xml"; 1: matched by "*/*"; 0: no match.
constexpr int media_type_fit(Bytes range, Bytes type) noexcept {
  if (range == type) return 3;
  if (range == "*/*") return 1;
  const std::size_t star = range.find('*');
  if (star == Bytes::npos || type.size() < range.size()) return 0;
  return type.starts_with(range.substr(0, star)) && type.ends_with(range.substr(star + 1)) ? 2 : 0;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
