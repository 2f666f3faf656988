#include "katana/http/handlers/split_parameters.hpp"

#include <fmt/format.h>

namespace katana::detail {
namespace {

// Returns the size of the separator at the front of `text`; 0 if there is none.
std::size_t separator_size(Bytes text, char separator) noexcept {
  if (text.front() == separator || (separator == ' ' && text.front() == '+')) return 1;
  if (text.front() != '%' || text.size() < 3) return 0;
  const Bytes code = text.substr(1, 2);
  switch (separator) {
    case ' ': return code == "20" ? 3 : 0;
    case '|': return code == "7C" || code == "7c" ? 3 : 0;
    case '\t': return code == "09" ? 3 : 0;
    default: return 0;
  }
}

}  // namespace

Bytes cut_item(Bytes& rest, char separator, bool& more) noexcept {
  for (std::size_t at = 0; at < rest.size(); ++at) {
    const std::size_t size = separator_size(rest.substr(at), separator);
    if (size == 0) continue;
    const Bytes item = rest.substr(0, at);
    rest.remove_prefix(at + size);
    more = true;
    return item;
  }
  more = false;
  return std::exchange(rest, Bytes());
}

std::optional<std::vector<Bytes>> segment_items(Bytes segment, Bytes name, SegmentStyle style,
                                                bool explode, bool is_list) {
  std::string prefix;
  if (style == SegmentStyle::label) prefix = ".";
  if (style == SegmentStyle::matrix) prefix = ";" + std::string(name) + "=";
  if (!segment.starts_with(prefix)) return std::nullopt;
  segment.remove_prefix(prefix.size());
  if (!is_list) return std::vector<Bytes>{segment};
  std::string separator = ",";
  if (explode && style == SegmentStyle::label) separator = ".";
  if (explode && style == SegmentStyle::matrix) separator = prefix;
  std::vector<Bytes> items;
  for (;;) {
    const std::size_t at = segment.find(separator);
    items.push_back(segment.substr(0, at));
    if (at == Bytes::npos) return items;
    segment.remove_prefix(at + separator.size());
  }
}

Error bad_segment(Bytes name, Bytes segment, SegmentStyle style) {
  const std::string expected =
      style == SegmentStyle::label ? std::string(".value") : fmt::format(";{}=value", name);
  return not_a(expected, segment, Telling::words);
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
