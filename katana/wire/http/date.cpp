// Days are counted from 1970-01-01. Years begin in March here: the leap day is then the last of its
// year. The days before a month are (153 * month + 2) / 5. The calendar repeats every 400 years, an
// era of 146097 days.
//
//   IMF-fixdate   Sun, 06 Nov 1994 08:49:37 GMT
//   RFC 850       Sunday, 06-Nov-94 08:49:37 GMT
//   asctime       Sun Nov  6 08:49:37 1994
#include "katana/wire/http/date.hpp"

#include <algorithm>
#include <array>

#include "katana/wire/http/characters.hpp"

namespace katana::http {
namespace {

constexpr std::int64_t day_seconds = 86'400;
constexpr std::int64_t average_year_seconds = 31'556'952;
constexpr std::int64_t era_days = 146'097;
constexpr std::int64_t days_from_0000_03_01_to_1970 = 719'468;

constexpr Bytes short_day_names = "SunMonTueWedThuFriSat";
constexpr Bytes month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::array<Bytes, 7> long_day_names = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                 "Thursday", "Friday", "Saturday"};

struct Date {
  std::int64_t year = 0;
  int month = 0;  // 1 to 12
  int day = 0;    // 1 to 31
};

struct Time {
  int hour = 0;
  int minute = 0;
  int second = 0;  // 60 only as 23:59:60
};

// REQUIRES: year >= 0.
constexpr std::int64_t days_from(Date date) noexcept {
  const std::int64_t year = date.year + 400 - (date.month <= 2 ? 1 : 0);
  const std::int64_t era = year / 400;
  const std::int64_t year_of_era = year % 400;
  const std::int64_t month_from_march = (date.month + 9) % 12;
  const std::int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return (era - 1) * era_days + day_of_era - days_from_0000_03_01_to_1970;
}

// REQUIRES: days >= 0.
constexpr Date date_from(std::int64_t days) noexcept {
  days += days_from_0000_03_01_to_1970;
  const std::int64_t era = days / era_days;
  const std::int64_t day_of_era = days % era_days;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const auto month = static_cast<int>((month_from_march + 2) % 12 + 1);
  const auto day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  return {era * 400 + year_of_era + (month <= 2 ? 1 : 0), month, day};
}

static_assert(days_from({1970, 1, 1}) == 0);
static_assert(days_from({1994, 11, 6}) == 9075);
static_assert(days_from({0, 1, 1}) == -719'528);
static_assert(date_from(11'016).month == 2 && date_from(11'016).day == 29);

constexpr bool is_leap_year(std::int64_t year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr bool is_day_of_its_month(Date date) noexcept {
  constexpr std::array<int, 12> month_days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int leap_day = date.month == 2 && is_leap_year(date.year) ? 1 : 0;
  return date.day >= 1 && date.day <= month_days[date.month - 1] + leap_day;
}

// ---- writing ---------------------------------------------------------------------------------

char* write_text(char* out, Bytes text) noexcept {
  return std::copy(text.begin(), text.end(), out);
}

char* write_two_digits(char* out, std::int64_t number) noexcept {
  *out++ = static_cast<char>('0' + number / 10);
  *out++ = static_cast<char>('0' + number % 10);
  return out;
}

// The name at `index` in a run of three-letter names.
Bytes short_name(Bytes names, std::int64_t index) noexcept {
  return Bytes{names.data() + index * 3, 3};
}

// ---- reading ---------------------------------------------------------------------------------

// Takes a date apart from the left. A mismatch empties the rest and is remembered: a whole form is
// then written down in a row and checked once.
class DateReader {
 public:
  explicit DateReader(Bytes text) noexcept : rest_(text) {}

  // Nothing mismatched and nothing is left.
  [[nodiscard]] bool complete() const noexcept { return good_ && rest_.empty(); }

  void text(Bytes expected) noexcept {
    if (rest_.starts_with(expected)) return rest_.remove_prefix(expected.size());
    fail();
  }

  int digits(std::size_t count) noexcept {
    if (rest_.size() < count || !all_are(Bytes{rest_.data(), count}, digit_character))
      return fail();
    int number = 0;
    for (std::size_t index = 0; index < count; ++index) number = number * 10 + (rest_[index] - '0');
    rest_.remove_prefix(count);
    return number;
  }

  // The index of the three-letter name that comes next.
  int short_name_in(Bytes names) noexcept {
    for (std::size_t at = 0; at < names.size(); at += 3) {
      const Bytes name{names.data() + at, 3};
      if (!rest_.starts_with(name)) continue;
      rest_.remove_prefix(name.size());
      return static_cast<int>(at / 3);
    }
    return fail();
  }

  void long_day_name() noexcept {
    for (const Bytes name : long_day_names) {
      if (rest_.starts_with(name)) return rest_.remove_prefix(name.size());
    }
    fail();
  }

  int month() noexcept { return short_name_in(month_names) + 1; }

  // asctime writes a day below 10 with a space.
  int day_of_asctime() noexcept {
    if (!rest_.starts_with(' ')) return digits(2);
    rest_.remove_prefix(1);
    return digits(1);
  }

  Time time() noexcept {
    Time time;
    time.hour = digits(2);
    text(":");
    time.minute = digits(2);
    text(":");
    time.second = digits(2);
    return time;
  }

 private:
  int fail() noexcept {
    good_ = false;
    rest_ = {};
    return 0;
  }

  Bytes rest_;
  bool good_ = true;
};

std::optional<std::int64_t> seconds_from(Date date, Time time) noexcept {
  const bool leap_second = time.hour == 23 && time.minute == 59 && time.second == 60;
  const bool in_a_day = time.hour <= 23 && time.minute <= 59 && time.second <= 59;
  if (!is_day_of_its_month(date) || !(in_a_day || leap_second)) return std::nullopt;
  return days_from(date) * day_seconds + time.hour * 3600 + time.minute * 60 + time.second;
}

std::optional<std::int64_t> parse_imf_fixdate(Bytes text) noexcept {
  DateReader reader(text);
  Date date;
  reader.short_name_in(short_day_names);
  reader.text(", ");
  date.day = reader.digits(2);
  reader.text(" ");
  date.month = reader.month();
  reader.text(" ");
  date.year = reader.digits(4);
  reader.text(" ");
  const Time time = reader.time();
  reader.text(" GMT");
  return reader.complete() ? seconds_from(date, time) : std::nullopt;
}

std::optional<std::int64_t> parse_asctime(Bytes text) noexcept {
  DateReader reader(text);
  Date date;
  reader.short_name_in(short_day_names);
  reader.text(" ");
  date.month = reader.month();
  reader.text(" ");
  date.day = reader.day_of_asctime();
  reader.text(" ");
  const Time time = reader.time();
  reader.text(" ");
  date.year = reader.digits(4);
  return reader.complete() ? seconds_from(date, time) : std::nullopt;
}

// The last year that ends in date.year and puts the date at most 50 years after now.
std::int64_t full_year(Date date, std::int64_t now) noexcept {
  const std::int64_t limit = std::clamp<std::int64_t>(now, 0, date_seconds_max) / day_seconds +
                             50 * average_year_seconds / day_seconds;
  date.year += date_from(limit).year / 100 * 100;
  return days_from(date) > limit ? date.year - 100 : date.year;
}

std::optional<std::int64_t> parse_rfc850(Bytes text, std::int64_t now) noexcept {
  DateReader reader(text);
  Date date;
  reader.long_day_name();
  reader.text(", ");
  date.day = reader.digits(2);
  reader.text("-");
  date.month = reader.month();
  reader.text("-");
  date.year = reader.digits(2);
  reader.text(" ");
  const Time time = reader.time();
  reader.text(" GMT");
  if (!reader.complete()) return std::nullopt;
  date.year = full_year(date, now);
  return seconds_from(date, time);
}

}  // namespace

void format_date(std::int64_t unix_seconds, std::span<char, date_bytes> out) noexcept {
  const std::int64_t seconds = std::clamp<std::int64_t>(unix_seconds, 0, date_seconds_max);
  const std::int64_t days = seconds / day_seconds;
  const std::int64_t second_of_day = seconds % day_seconds;
  constexpr std::int64_t thursday = 4;  // 1970-01-01
  const Date date = date_from(days);

  char* end = write_text(out.data(), short_name(short_day_names, (days + thursday) % 7));
  end = write_text(end, ", ");
  end = write_two_digits(end, date.day);
  end = write_text(end, " ");
  end = write_text(end, short_name(month_names, date.month - 1));
  end = write_text(end, " ");
  end = write_two_digits(end, date.year / 100);
  end = write_two_digits(end, date.year % 100);
  end = write_text(end, " ");
  end = write_two_digits(end, second_of_day / 3600);
  end = write_text(end, ":");
  end = write_two_digits(end, second_of_day / 60 % 60);
  end = write_text(end, ":");
  end = write_two_digits(end, second_of_day % 60);
  write_text(end, " GMT");
}

std::optional<std::int64_t> parse_date(Bytes text, std::int64_t now_unix_seconds) noexcept {
  if (const auto date = parse_imf_fixdate(text)) return date;
  if (const auto date = parse_asctime(text)) return date;
  return parse_rfc850(text, now_unix_seconds);
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
