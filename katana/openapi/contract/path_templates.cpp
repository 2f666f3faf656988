#include "katana/openapi/contract/path_templates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::openapi {
namespace {

std::vector<Bytes> segments_of(Bytes path) {
  std::vector<Bytes> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // '/'
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

}  // namespace

Result<PathTemplates::Segment> PathTemplates::segment_of(Bytes text, Bytes path) {
  Segment segment;
  while (!text.empty()) {
    const bool is_parameter = text.front() == '{';
    const std::size_t end = is_parameter ? text.find('}') : std::min(text.find('{'), text.size());
    if (end == Bytes::npos) {
      return fail(Code::invalid_argument,
                  fmt::format("path '{}': '{{' without '}}' behind it", path));
    }
    if (is_parameter && (end == 1 || (!segment.empty() && segment.back().is_parameter))) {
      return fail(Code::invalid_argument,
                  fmt::format("path '{}': a parameter needs a name, and text between it and the "
                              "next one",
                              path));
    }
    segment.push_back(
        {is_parameter, std::string(is_parameter ? text.substr(1, end - 1) : text.substr(0, end))});
    text.remove_prefix(is_parameter ? end + 1 : end);
  }
  return segment;
}

// Less is more specific, as it is for the router. A literal goes first, then the longest text
// before a parameter, then the longest text behind it, then a parameter alone.
std::string PathTemplates::rank_of(const Segment& segment) {
  const auto is_parameter = [](const Piece& each) { return each.is_parameter; };
  if (std::ranges::none_of(segment, is_parameter)) return "a";
  if (segment.size() == 1) return "c";
  const auto text_bytes = [](const Piece& each) {
    return each.is_parameter ? 0 : std::min<std::size_t>(each.text.size(), 999);
  };
  return fmt::format("b{:03}{:03}", 999 - text_bytes(segment.front()),
                     999 - text_bytes(segment.back()));
}

Result<void> PathTemplates::add(Bytes path, std::size_t index) {
  if (!path.starts_with('/')) {
    return fail(Code::invalid_argument, fmt::format("path '{}' does not begin with '/'", path));
  }
  Template made{.index = index, .rank = {}, .segments = {}};
  for (const Bytes text : segments_of(path)) {
    auto segment = segment_of(text, path);
    if (!segment) return std::unexpected(segment.error());
    made.rank += rank_of(*segment);
    made.segments.push_back(*std::move(segment));
  }
  auto& list = by_size_[made.segments.size()];
  const auto place = std::ranges::upper_bound(list, made.rank, {}, &Template::rank);
  list.insert(place, std::move(made));
  return {};
}

// A parameter takes one byte at least.
bool PathTemplates::match(const Segment& segment, Bytes text, PathValues& values) {
  for (std::size_t at = 0; at < segment.size(); ++at) {
    const Piece& piece = segment[at];
    if (!piece.is_parameter) {
      if (!text.starts_with(piece.text)) return false;
      text.remove_prefix(piece.text.size());
      continue;
    }
    const bool is_last = at + 1 == segment.size();
    std::size_t end = text.size();
    if (!is_last) {
      const std::string& next = segment[at + 1].text;
      // "a.b.csv" by "{name}.{kind}": the last literal is looked for from the end, where it leaves
      // text for the parameter behind it.
      const bool is_end = at + 2 == segment.size();
      const std::size_t left = text.size() - std::min(text.size(), next.size() + 1);
      end = is_end                     ? text.rfind(next)
            : at + 3 == segment.size() ? text.rfind(next, left)
                                       : text.find(next, 1);
    }
    if (end == Bytes::npos || end == 0) return false;
    // "%2F" is one byte, which no text may cut.
    if (!is_last &&
        text.substr(end < 2 ? 0 : end - 2, std::min<std::size_t>(end, 2)).contains('%')) {
      return false;
    }
    values.emplace_back(piece.text, text.substr(0, end));
    text.remove_prefix(end);
  }
  return text.empty();
}

std::vector<PathTemplates::Match> PathTemplates::find(Bytes path) const {
  std::vector<Match> found;
  if (!path.starts_with('/')) return found;
  const std::vector<Bytes> segments = segments_of(path);
  const auto list = by_size_.find(segments.size());
  if (list == by_size_.end()) return found;
  for (const Template& each : list->second) {
    PathValues values;
    bool fits = true;
    for (std::size_t at = 0; fits && at < segments.size(); ++at) {
      fits = match(each.segments[at], segments[at], values);
    }
    if (fits) found.push_back({each.index, std::move(values)});
  }
  return found;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
