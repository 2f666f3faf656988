// Patterns of routes: their segments, and the check of a pattern.
//
// Borrows    the pattern; a segment is a view into it.
// Thread     any.
// Allocates  only in shape_of().
// Fails      shape_of() with a message that names the pattern, the place in it and the remedy.
// Invariant  patterns of one shape fit the same paths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/routing/path_parameters.hpp"

namespace katana {

// Limits of one pattern; build() reports a pattern with more.
inline constexpr std::size_t route_segments_max = 32;
// Longer patterns are a mistake that build() reports.
inline constexpr std::size_t route_pattern_bytes_max = 1'024;

namespace detail {

// part: a parameter with text before or behind it, "v{major}", "{id}.json". choice: only in the
// tree.
enum class RouteSegmentKind : std::uint8_t { literal, parameter, rest, part, choice };

inline constexpr std::size_t route_suffix_bytes_max = 255;

struct RouteSegment {
  RouteSegmentKind kind = RouteSegmentKind::literal;
  Bytes text;         // of a literal: the segment; otherwise: the name
  Bytes prefix = {};  // of a part, as is the suffix
  Bytes suffix = {};
};

// REQUIRES: text is a segment of a pattern that add() accepts.
inline RouteSegment segment_of(Bytes text) noexcept {
  const std::size_t open = text.find('{');
  if (open == Bytes::npos) return {RouteSegmentKind::literal, text};
  const std::size_t close = text.find('}');
  const Bytes name = text.substr(open + 1, close - open - 1);
  if (open != 0 || close + 1 != text.size()) {
    return {RouteSegmentKind::part, name, text.substr(0, open), text.substr(close + 1)};
  }
  if (name.ends_with("...")) return {RouteSegmentKind::rest, name.substr(0, name.size() - 3)};
  return {RouteSegmentKind::parameter, name};
}

// Takes the next segment off the rest of a pattern, which starts with '/'.
inline Bytes take_segment(Bytes& rest) noexcept {
  const std::size_t end = std::min(rest.find('/', 1), rest.size());
  const Bytes segment = rest.substr(1, end - 1);
  rest.remove_prefix(end);
  return segment;
}

// Returns the pattern without its names. No literal contains a brace, and no two patterns share a
// shape by accident. `method` is for errors.
Result<std::string> shape_of(Bytes method, Bytes pattern);

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
