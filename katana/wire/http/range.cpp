#include "katana/wire/http/range.hpp"

#include <algorithm>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/field_list.hpp"

namespace katana::http {
namespace {

constexpr Bytes unit = "bytes=";

// Takes a position. A number of more than 63 bits is beyond every representation, and becomes the
// largest.
bool take_number(Bytes& text, std::uint64_t& value) noexcept {
  constexpr std::uint64_t largest = INT64_MAX;
  const std::size_t before = text.size();
  for (value = 0; !text.empty() && is(text[0], digit_character); text.remove_prefix(1)) {
    const auto digit = static_cast<std::uint64_t>(text[0] - '0');
    value = value > (largest - digit) / 10 ? largest : value * 10 + digit;
  }
  return text.size() != before;
}

bool take_dash(Bytes& text) noexcept {
  if (!text.starts_with('-')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

// int-range or suffix-range, RFC 9110 §14.1.2.
Ranges::Taken Ranges::take(Bytes spec, std::uint64_t size) noexcept {
  std::uint64_t first = 0, last = 0;
  if (take_dash(spec)) {
    if (!take_number(spec, last) || !spec.empty()) return Taken::malformed;
    if (last == 0) return Taken::nothing;
    const std::uint64_t count = std::min(last, size);
    if (count == 0) return Taken::malformed;  // the end of nothing cannot be named: send the whole
    add(size - count, count);
    return Taken::range;
  }
  if (!take_number(spec, first) || !take_dash(spec)) return Taken::malformed;
  const bool has_last = take_number(spec, last);
  if (!spec.empty() || (has_last && last < first)) return Taken::malformed;
  if (first >= size) return Taken::nothing;
  add(first, (has_last ? std::min(last, size - 1) : size - 1) - first + 1);
  return Taken::range;
}

Ranges Ranges::parse(Bytes value, std::uint64_t size) noexcept {
  Ranges ranges;
  if (value.size() <= unit.size() || !equals_ignoring_case(value.substr(0, unit.size()), unit)) {
    return ranges;
  }
  std::size_t specs = 0;
  std::uint64_t total = 0;
  Bytes spec;
  for (ListReader list(value.substr(unit.size())); list.next(spec);) {
    const Taken taken = ++specs > ranges_max ? Taken::malformed : ranges.take(spec, size);
    if (taken == Taken::malformed) return {};
    if (taken != Taken::range) continue;
    const std::uint64_t added = ranges.ranges_[ranges.count_ - 1].size;
    if (added > size - total) return {};  // and no sum wraps
    total += added;
  }
  if (specs == 0) return {};
  ranges.kind_ = ranges.count_ > 0 ? RangeKind::satisfiable : RangeKind::unsatisfiable;
  return ranges;
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
