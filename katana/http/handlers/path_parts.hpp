// PathParts<"{}...{}", A, B>: several values in one segment of a path, with text between them.
//
//   router.get("/compare/{range}", [](PathParts<"{}...{}", std::string, std::string> range) { … });
//   GET /compare/v1.2...main        std::get<0>(range.values) == "v1.2", std::get<1>(…) == "main"
//
// The last text between two values counts: with "{}.{}", the segment a.tar.gz is a.tar and gz. No
// value is empty. The text is compared before escapes are decoded, but for those of unreserved
// characters (RFC 3986 §2.3).
//
// Owns       its values.
// Thread     its reactor's.
// Allocates  what the values need.
// Fails      404 where the segment does not have the texts; 400 for a value that does not fit its
//            type, as Path<T>.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "katana/http/handlers/extract.hpp"

namespace katana {

// The segment with "{}" for each value, as an argument of a template: "{}.{}".
template <std::size_t size>
struct PartsPattern {
  // Takes a string literal.
  consteval PartsPattern(const char (&literal)[size]) {  // NOLINT: implicit on purpose
    for (std::size_t at = 0; at < size; ++at) text[at] = literal[at];
    Bytes rest = bytes();
    if (!rest.starts_with("{}") || !rest.ends_with("{}")) throw "begins and ends with {}";
    if (rest.find("{}{}") != Bytes::npos) throw "text stands between two values";
    for (; !rest.empty(); rest.remove_prefix(1)) count += rest.starts_with("{}") ? 1u : 0u;
  }
  // The text without the terminating zero.
  constexpr Bytes bytes() const noexcept { return {text.data(), size - 1}; }

  std::array<char, size> text{};  // as it stands in the literal
  std::size_t count = 0;          // values
};

// The next {parameter} of the pattern, as several values.
template <PartsPattern pattern, class... T>
  requires(sizeof...(T) == pattern.count)
struct PathParts {
  std::tuple<T...> values;  // in the order of the path
};

namespace detail {

// Cuts a segment, still encoded, into as many parts as there are. False: it is not of that form.
bool cut_parts(Bytes segment, Bytes pattern, std::span<Bytes> parts) noexcept;
Error no_parts(Bytes pattern, Bytes segment);

template <PartsPattern pattern, class... T>
inline constexpr bool is_path<PathParts<pattern, T...>> = true;

template <PartsPattern pattern, class... T>
struct Extractor<PathParts<pattern, T...>> {
  using Parts = PathParts<pattern, T...>;

  static std::expected<Parts, Refusal> from(const RequestView& request, std::size_t index) {
    const PathParameter parameter = request.parameters()[index];
    std::array<Bytes, sizeof...(T)> parts;
    if (!cut_parts(parameter.value, pattern.bytes(), parts)) {
      const Error error = no_parts(pattern.bytes(), parameter.value);
      return std::unexpected(Refusal(parameter_problem(error)));
    }
    std::expected<Parts, Refusal> result{std::in_place};
    const auto read = [&]<std::size_t at>(std::integral_constant<std::size_t, at>) {
      using Value = std::tuple_element_t<at, std::tuple<T...>>;
      auto value = parse_text<Value>(decoded_segment(parts[at]).bytes());
      if (!value) {
        result = std::unexpected(
            refuse_parameter("path parameter", parameter.name, value.error().message()));
        return false;
      }
      std::get<at>(result->values) = *std::move(value);
      return true;
    };
    [&]<std::size_t... at>(std::index_sequence<at...>) {
      (void)(read(std::integral_constant<std::size_t, at>()) && ...);
    }(std::index_sequence_for<T...>());
    return result;
  }
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
