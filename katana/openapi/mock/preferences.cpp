#include "katana/openapi/mock/preferences.hpp"

#include <algorithm>
#include <charconv>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::openapi::detail {
namespace {

Bytes trimmed(Bytes text) noexcept {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"')) {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

void take(Preferences& preferences, Bytes name, Bytes value) {
  if (name == "code") {
    unsigned code = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), code);
    if (error == std::errc() && end == value.data() + value.size()) preferences.code = code;
  } else if (name == "example") {
    preferences.example = value;
  } else if (name == "dynamic") {
    preferences.is_dynamic = value != "false";
  }
}

}  // namespace

Preferences preferences_of(const RequestView& request) {
  Preferences made;
  http::QueryReader reader(request.query());
  for (Bytes name, value; reader.next(name, value);) {
    if (!name.starts_with("__")) continue;
    std::string text(value);
    text.resize(http::decode_form(value, text).value_or(0));
    take(made, name.substr(2), text);
  }
  for (std::size_t index = 0; index < request.head().field_count(); ++index) {
    if (!http::equals_ignoring_case(request.head().name(index), "prefer")) continue;
    for (Bytes left = request.head().value(index); !left.empty();) {
      const std::size_t end = std::min(left.find_first_of(",;"), left.size());
      const Bytes each = left.substr(0, end);
      left.remove_prefix(std::min(end + 1, left.size()));
      const std::size_t at = std::min(each.find('='), each.size());
      take(made, trimmed(each.substr(0, at)), trimmed(each.substr(std::min(at + 1, each.size()))));
    }
  }
  return made;
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
