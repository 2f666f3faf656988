// Pattern: a format string that the compiler has checked against its arguments, and its place in
// the sources.
//
// Owns       nothing: text and place are part of the program.
// Thread     a value.
// Fails      at compile time: a pattern that does not fit its arguments is no constant expression.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>

#include "katana/observe/log/capture.hpp"

namespace katana::log {

namespace detail {

// The type that the compiler checks for an argument: the type that the writer will format in its
// place.
template <class T>
auto checked_as() {
  if constexpr (is_rendered<T> || Textual<T> || Described<T> || !Loggable<T>) {
    return std::type_identity<Bytes>{};  // capture() refuses it with a message
  } else if constexpr (Pointer<T>) {
    return std::type_identity<const void*>{};
  } else if constexpr (PlainEnum<T>) {
    return std::type_identity<std::int64_t>{};
  } else {
    return std::type_identity<T>{};
  }
}

template <class Kept, class... Rest>
struct CheckedFormat;
template <class... Kept>
struct CheckedFormat<std::tuple<Kept...>> {
  using type = fmt::format_string<const Kept&...>;
};
template <class... Kept, class First, class... Rest>
struct CheckedFormat<std::tuple<Kept...>, First, Rest...> {
  using type =
      typename CheckedFormat<std::tuple<Kept..., typename decltype(checked_as<First>())::type>,
                             Rest...>::type;
};
template <class... Kept, class T, class... Rest>
struct CheckedFormat<std::tuple<Kept...>, Field<T>, Rest...> {
  using type = typename CheckedFormat<std::tuple<Kept...>, Rest...>::type;
};

}  // namespace detail

// A format string whose fields fit these argument types. The compiler makes it from a literal.
template <class... Arguments>
class BasicPattern {
 public:
  template <std::size_t size>
  consteval BasicPattern(const char (&literal)[size],
                         std::source_location where = std::source_location::current())
      : text_(literal), where_(where) {
    [[maybe_unused]] const typename detail::CheckedFormat<std::tuple<>, Arguments...>::type checked(
        literal);
  }

  constexpr const char* text() const noexcept { return text_; }  // the literal
  // File, line and function of the call.
  constexpr std::source_location where() const noexcept { return where_; }

 private:
  const char* text_;
  std::source_location where_;
};

// For parameters: the arguments are deduced from the later parameters, not from the pattern.
template <class... Arguments>
using Pattern = BasicPattern<std::type_identity_t<Arguments>...>;

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
