#include "katana/base/values/timestamp.hpp"

#include <algorithm>

namespace katana {
namespace {

constexpr bool is_decimal(char c) noexcept { return c >= '0' && c <= '9'; }

// Two or four digits from the front, or -1.
int take_number(Bytes& text, std::size_t digits) noexcept {
  if (text.size() < digits) return -1;
  int number = 0;
  for (std::size_t index = 0; index < digits; ++index) {
    if (!is_decimal(text[index])) return -1;
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

std::optional<Date> take_date(Bytes& text) noexcept {
  const int year = take_number(text, 4);
  if (year < 0 || !take(text, '-')) return std::nullopt;
  const int month = take_number(text, 2);
  if (month < 0 || !take(text, '-')) return std::nullopt;
  const int day = take_number(text, 2);
  if (day < 0) return std::nullopt;
  const Date date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                  std::chrono::day(static_cast<unsigned>(day))};
  return date.ok() ? std::optional(date) : std::nullopt;
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

// The fraction in nanoseconds; false if there is no digit. Digits behind the ninth are dropped.
bool take_fraction(Bytes& text, std::uint32_t& ns) noexcept {
  std::size_t digits = 0;
  for (; digits < text.size() && is_decimal(text[digits]); ++digits) {
    if (digits < 9) ns = ns * 10 + static_cast<std::uint32_t>(text[digits] - '0');
  }
  for (std::size_t place = digits; place < 9; ++place) ns *= 10;
  text.remove_prefix(digits);
  return digits != 0;
}

template <class Text>
void put_digits(Text& text, std::uint32_t number, unsigned digits) noexcept {
  std::uint32_t unit = 1;
  for (unsigned place = 1; place < digits; ++place) unit *= 10;
  for (; unit != 0; unit /= 10) text.push_back(static_cast<char>('0' + number / unit % 10));
}

template <class Text>
void put_date(Text& text, const Date& date) noexcept {
  put_digits(text, static_cast<std::uint32_t>(static_cast<int>(date.year())), 4);
  text.push_back('-');
  put_digits(text, static_cast<unsigned>(date.month()), 2);
  text.push_back('-');
  put_digits(text, static_cast<unsigned>(date.day()), 2);
}

constexpr std::int64_t first_second = -62'167'219'200;  // 0000-01-01T00:00:00Z
constexpr std::int64_t last_second = 253'402'300'799;   // 9999-12-31T23:59:59Z
constexpr std::uint32_t last_ns = 999'999'999;

}  // namespace

namespace detail {

std::optional<TimeParts> parse_time(Bytes text) noexcept {
  const auto date = take_date(text);
  if (!date || (!take(text, 'T') && !take(text, 't'))) return std::nullopt;
  const int minutes = take_minutes(text);
  if (minutes < 0 || !take(text, ':')) return std::nullopt;
  const int second = take_number(text, 2);
  if (second < 0 || second > 60) return std::nullopt;
  TimeParts time;
  if (take(text, '.') && !take_fraction(text, time.ns)) return std::nullopt;
  int offset = 0;
  if (!take_offset(text, offset) || !text.empty()) return std::nullopt;
  constexpr int day = 24 * 60;
  const bool leaps = (minutes - offset + day) % day == day - 1;  // 23:59:60 in UTC
  if (second == 60 && !leaps) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(*date).time_since_epoch().count();
  time.seconds = (days * day + minutes - offset) * 60 + second;
  return time;
}

ShortText<30> write_time(TimeParts time, unsigned fraction_digits) noexcept {
  if (time.seconds < first_second) time = {first_second, 0};
  if (time.seconds > last_second) time = {last_second, last_ns};
  const auto whole = std::chrono::sys_seconds(std::chrono::seconds(time.seconds));
  const auto days = std::chrono::floor<std::chrono::days>(whole);
  const auto second = static_cast<std::uint32_t>((whole - days).count());
  ShortText<30> text;
  put_date(text, Date(days));
  text.push_back('T');
  put_digits(text, second / 3600, 2);
  text.push_back(':');
  put_digits(text, second / 60 % 60, 2);
  text.push_back(':');
  put_digits(text, second % 60, 2);
  if (fraction_digits != 0) {
    text.push_back('.');
    std::uint32_t fraction = time.ns;
    for (unsigned place = fraction_digits; place < 9; ++place) fraction /= 10;
    put_digits(text, fraction, fraction_digits);
  }
  text.push_back('Z');
  return text;
}

}  // namespace detail

std::optional<Date> TextForm<Date>::parse(Bytes text) noexcept {
  const auto date = take_date(text);
  return date && text.empty() ? date : std::nullopt;
}

ShortText<10> TextForm<Date>::write(const Date& date) noexcept {
  using namespace std::chrono;
  const Date shown = std::clamp(date, year(0) / 1 / 1, year(9999) / 12 / 31);
  ShortText<10> text;
  put_date(text, shown);
  return text;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
