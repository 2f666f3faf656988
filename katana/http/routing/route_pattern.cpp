#include "katana/http/routing/route_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "katana/base/text/format.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::detail {
namespace {

bool is_name_character(char c) noexcept {
  return (http::to_lower(c) >= 'a' && http::to_lower(c) <= 'z') ||
         http::is(c, http::digit_character) || c == '_' || c == '-';
}

bool is_brace(char c) noexcept { return c == '{' || c == '}'; }

// Returns the pattern in the form for comparison with a path; nullopt if no path can match it.
std::optional<std::string> normal_form(Bytes pattern) {
  std::string raw;  // the bytes of a client for it: braces and other text escaped
  for (const char c : pattern) {
    const bool escaped = !http::is(c, http::target_character) || Bytes("[]?").contains(c);
    if (escaped) fmt::format_to(std::back_inserter(raw), "%{:02X}", static_cast<unsigned char>(c));
    if (!escaped) raw += c;
  }
  const auto size = http::normalize_path(raw, raw);
  if (!size) return std::nullopt;
  raw.resize(*size);
  return raw;
}

// Reads one pattern.
class PatternReader {
 public:
  PatternReader(Bytes method, Bytes pattern)
      : pattern_(pattern), subject_(fmt::format("route {} \"{}\"", method, pattern)) {}

  Result<std::string> read_shape() {
    Result<void> result = check_text();
    for (Bytes rest = pattern_; result && !rest.empty();) {
      const Bytes text = take_segment(rest);
      ++segment_count_;
      result = read_segment(text, rest.empty());
    }
    if (!result) return std::unexpected(result.error());
    return std::move(shape_);
  }

 private:
  template <class... Values>
  std::unexpected<Error> refuse(fmt::format_string<Values...> format, Values&&... values) const {
    return fail(Code::invalid_argument,
                subject_ + ": " + fmt::format(format, std::forward<Values>(values)...));
  }

  Result<void> check_text() const {
    if (!pattern_.starts_with('/')) {
      return refuse("a pattern starts with '/'; write \"/{}\"", pattern_);
    }
    if (pattern_.size() > route_pattern_bytes_max) {
      return refuse("the pattern has {} bytes, {} are allowed; take the tail with \"{{rest...}}\"",
                    pattern_.size(), route_pattern_bytes_max);
    }
    const auto segments = static_cast<std::size_t>(std::ranges::count(pattern_, '/'));
    if (segments > route_segments_max) {
      return refuse(
          "the pattern has {} segments, {} are allowed; take the tail with \"{{rest...}}\"",
          segments, route_segments_max);
    }
    const auto normal = normal_form(pattern_);
    if (!normal) {
      return refuse(
          "no path has a NUL byte, or a '%' without two hexadecimal digits;"
          " write \"%25\" for a percent sign");
    }
    if (const std::size_t at = normal->find_first_of("?#"); at != std::string::npos) {
      return refuse(
          "'{}' ends a path, so the pattern stops at \"{}\"; read the query in the handler,"
          " and take a segment that holds an escaped '{}' with \"{{name}}\"",
          (*normal)[at], normal->substr(0, at), (*normal)[at]);
    }
    if (std::ranges::count_if(*normal, is_brace) != std::ranges::count_if(pattern_, is_brace)) {
      return refuse(
          "no pattern can spell a brace; take a segment that holds one with \"{{name}}\"");
    }
    if (*normal != pattern_) {
      return refuse(
          "paths are normalised before they are compared, so this never fits; write \"{}\"",
          *normal);
    }
    return {};
  }

  Result<void> read_segment(Bytes text, bool is_last) {
    if (text.find_first_of("{}") == Bytes::npos) {
      shape_.append("/").append(text);
      return {};
    }
    if (auto result = check_braces(text); !result) return result;
    const RouteSegment segment = segment_of(text);
    if (segment.kind == RouteSegmentKind::rest && !is_last) {
      return refuse(
          "segment {} \"{}\" takes the rest of the path and has to be the last one;"
          " write \"{{{}}}\" for one segment",
          segment_count_, text, segment.text);
    }
    if (auto result = check_name(text, segment.text); !result) return result;
    shape_.append("/").append(segment.prefix);
    shape_.append(segment.kind == RouteSegmentKind::rest ? "{...}" : "{}");
    shape_.append(segment.suffix);
    return {};
  }

  // Checks for one '{' with one '}' behind it. A rest has no text beside it.
  Result<void> check_braces(Bytes text) const {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}');
    const bool in_order = open != Bytes::npos && (close == Bytes::npos || open < close);
    const std::size_t third =
        in_order ? text.find_first_of("{}", std::min(close, open) + 1) : Bytes::npos;
    if (in_order && close == Bytes::npos && third == Bytes::npos) {
      return refuse("segment {} \"{}\" opens a parameter and does not close it; write \"{}}}\"",
                    segment_count_, text, text);
    }
    if (!in_order || third != close || text.find_first_of("{}", close + 1) != Bytes::npos) {
      return refuse(
          "segment {} \"{}\" has more than one parameter, or a brace that belongs to none;"
          " write \"{{name}}\" and take the value apart in the handler",
          segment_count_, text);
    }
    const std::size_t behind = text.size() - close - 1;
    if (text.substr(0, close).ends_with("...") && (open != 0 || behind != 0)) {
      return refuse(
          "segment {} \"{}\" takes the rest of the path, and has text beside it; write \"{}\"",
          segment_count_, text, text.substr(open, close + 1 - open));
    }
    if (behind <= route_suffix_bytes_max) return {};
    return refuse("segment {} \"{}\" has more than {} bytes behind its parameter", segment_count_,
                  text, route_suffix_bytes_max);
  }

  Result<void> check_name(Bytes text, Bytes name) {
    if (name.empty()) {
      return refuse("segment {} \"{}\" has no name; write {}", segment_count_, text,
                    text == "{}" ? "\"{name}\"" : "\"{name...}\"");
    }
    if (const auto* bad = std::ranges::find_if_not(name, is_name_character); bad != name.end()) {
      return refuse("segment {} \"{}\" has {:?} in its name; use letters, digits, '_' and '-'",
                    segment_count_, text, *bad);
    }
    for (const auto& [other, segment] : names_) {
      if (other != name) continue;
      return refuse("segment {} \"{}\" has the name of segment {}; give it another name",
                    segment_count_, text, segment);
    }
    if (names_.size() == route_parameters_max) {
      return refuse(
          "segment {} \"{}\" is parameter {}, {} are allowed; take the tail with"
          " \"{{rest...}}\"",
          segment_count_, text, names_.size() + 1, route_parameters_max);
    }
    names_.emplace_back(name, segment_count_);
    return {};
  }

  Bytes pattern_;
  std::string subject_;
  std::string shape_;
  std::size_t segment_count_ = 0;
  std::vector<std::pair<Bytes, std::size_t>> names_;  // with the index of the segment
};

}  // namespace

Result<std::string> shape_of(Bytes method, Bytes pattern) {
  return PatternReader(method, pattern).read_shape();
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
