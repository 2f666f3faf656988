#include "katana/http/handlers/head_fields.hpp"

#include <span>
#include <string>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::detail {

std::string json_of_cookie(Bytes value) {
  if (value.find_first_of("\"{[,") != Bytes::npos || !value.contains('%')) {
    return std::string(value);
  }
  std::string encoded;  // as of a form, where a plus is a space
  for (const char c : value) encoded.append(c == '+' ? Bytes("%2B") : Bytes(&c, 1));
  std::string text = encoded;
  const auto size = http::decode_form(encoded, std::span(text.data(), text.size()));
  if (!size) return std::string(value);
  text.resize(*size);
  return text;
}

bool CookiePairs::next() noexcept {
  while (!reader_.next(name_, value_)) {
    while (at_ < head_.field_count() && !http::equals_ignoring_case(head_.name(at_), "Cookie"))
      ++at_;
    if (at_ == head_.field_count()) return false;
    reader_ = CookieReader(head_.value(at_++));
  }
  return true;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
