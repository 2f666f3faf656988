#include "katana/base/formats.hpp"

#include <algorithm>

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

// Two or four digits from the front, or -1.
int take_number(Bytes& text, std::size_t digits) noexcept {
  if (text.size() < digits) return -1;
  int number = 0;
  for (std::size_t index = 0; index < digits; ++index) {
    if (!is_digit(text[index])) return -1;
    number = number * 10 + (text[index] - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(Bytes& text, char c) noexcept {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

int days_of(int year, int month) noexcept {
  if (month == 2) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
  }
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

bool take_date(Bytes& text) noexcept {
  const int year = take_number(text, 4);
  if (year < 0 || !take(text, '-')) return false;
  const int month = take_number(text, 2);
  if (month < 1 || month > 12 || !take(text, '-')) return false;
  const int day = take_number(text, 2);
  return day >= 1 && day <= days_of(year, month);
}

// Hours and minutes as minutes, or -1.
int take_minutes(Bytes& text) noexcept {
  const int hour = take_number(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ':')) return -1;
  const int minute = take_number(text, 2);
  if (minute < 0 || minute > 59) return -1;
  return hour * 60 + minute;
}

// The offset of local time, in minutes; false when there is none.
bool take_offset(Bytes& text, int& offset) noexcept {
  offset = 0;
  if (take(text, 'Z') || take(text, 'z')) return true;
  const bool behind = text.starts_with('-');
  if (!take(text, '+') && !take(text, '-')) return false;
  const int minutes = take_minutes(text);
  offset = behind ? -minutes : minutes;
  return minutes >= 0;
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

bool is_date(Bytes text) noexcept { return take_date(text) && text.empty(); }

bool is_date_time(Bytes text) noexcept {
  if (!take_date(text) || (!take(text, 'T') && !take(text, 't'))) return false;
  const int minutes = take_minutes(text);
  if (minutes < 0 || !take(text, ':')) return false;
  const int second = take_number(text, 2);
  if (second < 0 || second > 60) return false;
  if (take(text, '.')) {
    const auto digits =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  int offset = 0;
  if (!take_offset(text, offset) || !text.empty()) return false;
  constexpr int day = 24 * 60;
  return second < 60 || (minutes - offset + day) % day == day - 1;  // 23:59:60 in UTC
}

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
