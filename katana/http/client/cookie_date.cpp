// The text is cut into tokens at delimiters. Each token is tried as the parts that are still
// missing, in this order. A token that is none of them is ignored:
//
//   time    1*2DIGIT ":" 1*2DIGIT ":" 1*2DIGIT, then nothing or a character that is no digit
//   day     1*2DIGIT, likewise
//   month   begins with three letters of its English name
//   year    2*4DIGIT, likewise; 70 to 99 are of the last century, 0 to 69 of this one
#include "katana/http/client/cookie_date.hpp"

#include <array>
#include <chrono>

#include "katana/wire/http/characters.hpp"

namespace katana::client {
namespace {

bool is_date_delimiter(char c) noexcept {
  const auto code = static_cast<unsigned char>(c);
  return code == 0x09 || (code >= 0x20 && code <= 0x2f) || (code >= 0x3b && code <= 0x40) ||
         (code >= 0x5b && code <= 0x60) || (code >= 0x7b && code <= 0x7e);
}

// Takes digits from the front of `text`. Returns nothing if there are fewer than `least`.
std::optional<int> take_digits(Bytes& text, std::size_t least, std::size_t most) noexcept {
  std::size_t size = 0;
  int number = 0;
  while (size < text.size() && size < most && http::is(text[size], http::digit_character)) {
    number = number * 10 + (text[size++] - '0');
  }
  if (size < least) return std::nullopt;
  text.remove_prefix(size);
  return number;
}

bool begins_with_digit(Bytes text) noexcept {
  return !text.empty() && http::is(text[0], http::digit_character);
}

// Reads a number that is not followed by another digit.
std::optional<int> number_of(Bytes token, std::size_t least, std::size_t most) noexcept {
  const auto number = take_digits(token, least, most);
  return begins_with_digit(token) ? std::nullopt : number;
}

struct Clock {
  int hour = 0, minute = 0, second = 0;
};

std::optional<Clock> clock_of(Bytes token) noexcept {
  std::array<int, 3> parts{};
  for (std::size_t index = 0; index < parts.size(); ++index) {
    if (index != 0) {
      if (!token.starts_with(':')) return std::nullopt;
      token.remove_prefix(1);
    }
    const auto part = take_digits(token, 1, 2);
    if (!part) return std::nullopt;
    parts[index] = *part;
  }
  if (begins_with_digit(token)) return std::nullopt;
  return Clock{parts[0], parts[1], parts[2]};
}

std::optional<unsigned> month_of(Bytes token) noexcept {
  constexpr Bytes names = "janfebmaraprmayjunjulaugsepoctnovdec";
  for (unsigned index = 0; index < 12; ++index) {
    if (http::equals_ignoring_case(token.substr(0, 3), names.substr(index * 3, 3))) {
      return index + 1;
    }
  }
  return std::nullopt;
}

struct DateParts {
  std::optional<Clock> clock;
  std::optional<int> day, year;
  std::optional<unsigned> month;

  void take(Bytes token) noexcept {
    if (!clock && (clock = clock_of(token))) return;
    if (!day && (day = number_of(token, 1, 2))) return;
    if (!month && (month = month_of(token))) return;
    if (!year) year = number_of(token, 2, 4);
  }
};

}  // namespace

std::optional<std::int64_t> parse_cookie_date(Bytes text) noexcept {
  DateParts parts;
  while (!text.empty()) {
    std::size_t size = 0;
    while (size < text.size() && !is_date_delimiter(text[size])) ++size;
    if (size != 0) parts.take(text.substr(0, size));
    text.remove_prefix(size == text.size() ? size : size + 1);
  }
  if (!parts.clock || !parts.day || !parts.month || !parts.year) return std::nullopt;
  int year = *parts.year;
  if (year >= 70 && year <= 99) year += 1900;
  if (year <= 69) year += 2000;
  const Clock& clock = *parts.clock;
  if (year < 1601 || clock.hour > 23 || clock.minute > 59 || clock.second > 59) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(*parts.month),
                                         std::chrono::day(static_cast<unsigned>(*parts.day))};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86'400 + clock.hour * 3600 + clock.minute * 60 + clock.second;
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
