#include "katana/data/container/reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "katana/base/text/nearest_name.hpp"

namespace katana::container::detail {
namespace {

std::string pointer_to(const Place& place) {
  if (place.outer == nullptr) return {};
  std::string pointer = pointer_to(*place.outer);
  if (place.is_named) {
    append_pointer(pointer, place.name.substr(0, 128));
  } else {
    append_pointer(pointer, place.index);
  }
  return pointer;
}

}  // namespace

Bytes kind_words(Kind kind) noexcept {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "boolean";
    case Kind::integer:
    case Kind::natural:
    case Kind::real: return "number";
    case Kind::text: return "string";
    case Kind::octets: return "bytes";
    case Kind::list: return "array";
    case Kind::object: break;
  }
  return "object";
}

Outcome Reading::report(const Place& place, std::string words) {
  if (findings_.full()) {
    findings_.add({}, {});  // only counted
  } else {
    findings_.add(pointer_to(place), std::move(words));
  }
  return Outcome::refused;
}

Outcome Reading::report_unknown(const Place& outer, Bytes name,
                                std::span<const std::string_view> names) {
  const Place place{.outer = &outer, .name = name, .is_named = true};
  // A body may have as many unknown names as its size allows: those that are not told are not
  // compared with all known ones.
  if (findings_.full()) return report(place, {});
  return report(place, "is not known" + nearest_hint(name, names));
}

Outcome Reading::malformed(Bytes words) {
  if (findings_.malformed()) return Outcome::stop;
  std::string message = fmt::format("malformed {}: {}", where_.format, words);
  if (const auto offset = where_.offset(where_.source)) {
    message += fmt::format(", near byte {}", *offset);
  }
  findings_.set_malformed(std::move(message));
  return Outcome::stop;
}

Outcome Reading::mismatch(const Place& place, Bytes expected, std::optional<Kind> got,
                          std::string shown) {
  if (findings_.full()) return report(place, {});
  const Bytes what = got ? kind_words(*got) : Bytes("something else");
  return report(place, fmt::format("expected {}, got {}", expected, shown.empty() ? what : shown));
}

Outcome Reading::too_deep() {
  return malformed(fmt::format("lists and objects are more than {} deep", options_.depth_max));
}

bool has_duplicates(std::vector<Bytes>& names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
