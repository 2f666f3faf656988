#include "katana/base/values/formats.hpp"

#include <algorithm>

#include "katana/base/values/timestamp.hpp"

namespace katana {
namespace {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
constexpr bool is_hexadecimal(char c) noexcept {
  return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}
constexpr bool is_local(char c) noexcept {
  return is_letter(c) || is_digit(c) || Bytes("!#$%&'*+-/=?^_`{|}~").contains(c);
}

bool is_local_part(Bytes text) noexcept {
  constexpr std::size_t bytes_max = 64;
  if (text.empty() || text.size() > bytes_max) return false;
  // A dot stands between two others (RFC 5321 §4.1.2, Dot-string).
  if (text.front() == '.' || text.back() == '.' || text.contains("..")) return false;
  return std::ranges::all_of(text, [](char c) { return c == '.' || is_local(c); });
}

bool is_label(Bytes text) noexcept {
  constexpr std::size_t bytes_max = 63;
  if (text.empty() || text.size() > bytes_max) return false;
  if (text.front() == '-' || text.back() == '-') return false;
  return std::ranges::all_of(text, [](char c) { return c == '-' || is_letter(c) || is_digit(c); });
}

bool is_domain(Bytes text) noexcept {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == Bytes::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

bool is_email(Bytes text) noexcept {
  constexpr std::size_t bytes_max = 254;
  const std::size_t at = text.find('@');
  return text.size() <= bytes_max && at != Bytes::npos && is_local_part(text.substr(0, at)) &&
         is_domain(text.substr(at + 1));
}

bool is_uuid(Bytes text) noexcept {
  constexpr std::size_t size = 36;
  if (text.size() != size) return false;
  for (std::size_t index = 0; index < size; ++index) {
    const bool is_hyphen = index == 8 || index == 13 || index == 18 || index == 23;
    if (is_hyphen ? text[index] != '-' : !is_hexadecimal(text[index])) return false;
  }
  return true;
}

bool is_date(Bytes text) noexcept { return TextForm<Date>::parse(text).has_value(); }

bool is_date_time(Bytes text) noexcept { return detail::parse_time(text).has_value(); }

Bytes format_words(Format format) noexcept {
  switch (format) {
    case Format::none: break;
    case Format::email: return "an e-mail address";
    case Format::uuid: return "a UUID";
    case Format::date_time: return "a date and time (RFC 3339)";
    case Format::date: return "a date (RFC 3339)";
  }
  return "text";
}

bool is_format(Format format, Bytes text) noexcept {
  switch (format) {
    case Format::none: break;
    case Format::email: return is_email(text);
    case Format::uuid: return is_uuid(text);
    case Format::date_time: return is_date_time(text);
    case Format::date: return is_date(text);
  }
  return true;
}

std::size_t count_code_points(Bytes text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
