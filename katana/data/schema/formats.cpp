#include "katana/data/schema/formats.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/values/formats.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/data/schema/expression.hpp"

namespace katana::schema {

namespace {

constexpr Bytes uri_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%";

bool is_letter(char each) noexcept {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
}
bool is_digit(char each) noexcept { return each >= '0' && each <= '9'; }
bool is_hexadecimal(char each) noexcept {
  return is_digit(each) || (each >= 'a' && each <= 'f') || (each >= 'A' && each <= 'F');
}

// RFC 3986 §4.1, by its characters.
bool is_uri_reference(Bytes text) {
  if (text.find_first_not_of(uri_characters) != Bytes::npos) return false;
  for (std::size_t at = text.find('%'); at != Bytes::npos; at = text.find('%', at + 1)) {
    if (at + 2 >= text.size() || !is_hexadecimal(text[at + 1]) || !is_hexadecimal(text[at + 2])) {
      return false;
    }
  }
  return text.find('#') == text.rfind('#');
}
bool is_uri(Bytes text) {
  const std::size_t colon = text.find(':');
  if (colon == Bytes::npos || colon == 0 || !is_letter(text.front())) return false;
  const Bytes scheme = text.substr(0, colon);
  return std::ranges::all_of(scheme,
                             [](char each) {
                               return is_letter(each) || is_digit(each) || each == '+' ||
                                      each == '-' || each == '.';
                             }) &&
         is_uri_reference(text);
}

bool is_v4(Bytes text) {
  const auto address = IpAddress::parse(text);
  return address && text.find(':') == Bytes::npos;
}
bool is_v6(Bytes text) {
  return text.find(':') != Bytes::npos && IpAddress::parse(text).has_value();
}

// RFC 1123 §2.1, RFC 1034 §3.1.
bool is_hostname(Bytes text) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    const Bytes label = text.substr(0, dot);
    const bool is_good = !label.empty() && label.size() <= 63 && label.front() != '-' &&
                         label.back() != '-' && std::ranges::all_of(label, [](char each) {
                           return is_letter(each) || is_digit(each) || each == '-';
                         });
    if (!is_good || dot == Bytes::npos) return is_good;
    text.remove_prefix(dot + 1);
  }
}

// full-time of RFC 3339 §5.6.
bool is_time(Bytes text) {
  constexpr Bytes day_without_leap = "1970-01-01T", day_with_leap = "2016-12-31T";
  return is_date_time(std::string(day_without_leap).append(text)) ||
         is_date_time(std::string(day_with_leap).append(text));
}

// RFC 6901 §3.
bool is_json_pointer(Bytes text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t at = text.find('~'); at != Bytes::npos; at = text.find('~', at + 1)) {
    if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) return false;
  }
  return true;
}

template <bool (*is_one)(Bytes)>
bool check(Bytes text, StepBudget&) {
  return is_one(text);
}

}  // namespace

FormatCheck format_check(Bytes name) noexcept {
  static constexpr std::pair<Bytes, FormatCheck> known[] = {
      {"date", [](Bytes text, StepBudget&) { return is_date(text); }},
      {"date-time", [](Bytes text, StepBudget&) { return is_date_time(text); }},
      {"email", [](Bytes text, StepBudget&) { return is_email(text); }},
      {"hostname", check<is_hostname>},
      {"ipv4", check<is_v4>},
      {"ipv6", check<is_v6>},
      {"json-pointer", check<is_json_pointer>},
      {"regex", Expression::is_valid},
      {"time", check<is_time>},
      {"uri", check<is_uri>},
      {"uri-reference", check<is_uri_reference>},
      {"uuid", [](Bytes text, StepBudget&) { return is_uuid(text); }},
  };
  const auto* const found = std::ranges::find(known, name, &std::pair<Bytes, FormatCheck>::first);
  return found == std::end(known) ? nullptr : found->second;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
