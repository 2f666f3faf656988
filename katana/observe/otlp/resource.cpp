#include "katana/observe/otlp/resource.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/observe/trace/list_member.hpp"

namespace katana::otlp {

using trace::detail::hex_digit;
using trace::detail::trimmed;

Result<std::string> percent_decoded(Bytes text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? hex_digit(text[at + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[at + 2]) : -1;
    if (low < 0) {
      return fail(Code::invalid_argument,
                  fmt::format("'{}' has a '%' without two hexadecimal digits", text));
    }
    decoded += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return decoded;
}

void Resource::set(Bytes key, Bytes value) {
  std::erase_if(attributes_, [key](const auto& each) { return each.first == key; });
  if (!value.empty()) attributes_.emplace_back(key, value);
}

Bytes Resource::find(Bytes key) const noexcept {
  const auto found =
      std::ranges::find(attributes_, key, [](const auto& each) { return Bytes(each.first); });
  return found == attributes_.end() ? Bytes() : Bytes(found->second);
}

Result<void> Resource::read(Bytes list) {
  Resource whole = *this;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const Bytes member = trimmed(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (member.empty()) continue;
    const std::size_t sign = member.find('=');
    if (sign == Bytes::npos || trimmed(member.substr(0, sign)).empty()) {
      return fail(Code::invalid_argument, fmt::format("'{}' is no key=value", member));
    }
    auto key = percent_decoded(trimmed(member.substr(0, sign)));
    if (!key) return std::unexpected(key.error());
    auto value = percent_decoded(trimmed(member.substr(sign + 1)));
    if (!value) return std::unexpected(value.error());
    whole.set(*key, *value);
  }
  *this = std::move(whole);
  return {};
}

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
