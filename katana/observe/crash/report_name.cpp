#include "katana/observe/crash/report_name.hpp"

#include <algorithm>

namespace katana::crash {
namespace {

constexpr Bytes name_middle = "-crash-";
constexpr Bytes name_ending = ".txt";

struct Moment {
  std::uint64_t year, month, day, hour, minute, second;
};

// gmtime_r() reads the time zone of the C library, under a lock. The days of a date: see Howard
// Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
Moment moment_of(std::time_t time) noexcept {
  const auto seconds = static_cast<std::uint64_t>(std::max<std::time_t>(time, 0));
  const std::uint64_t days = seconds / 86'400 + 719'468;  // since March 1 of the year 0
  const std::uint64_t era = days / 146'097;
  const std::uint64_t day_of_era = days % 146'097;
  const std::uint64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::uint64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::uint64_t shifted = (5 * day_of_year + 2) / 153;  // months since March
  const std::uint64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  const std::uint64_t in_day = seconds % 86'400;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0),
          month,
          day_of_year - (153 * shifted + 2) / 5 + 1,
          in_day / 3600,
          in_day / 60 % 60,
          in_day % 60};
}

bool is_name_character(char character) noexcept {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '.' ||
         character == '-';
}

void add_program(NameText& name, Bytes program) noexcept {
  for (const char each : program.substr(0, 64)) name.add(is_name_character(each) ? each : '_');
  if (program.empty()) name.add("program");
}

bool is_digit(char character) noexcept { return character >= '0' && character <= '9'; }

}  // namespace

void NameText::add_number(std::uint64_t value, int digits_min) noexcept {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0 || count < digits_min);
  while (count > 0) add(digits[--count]);
}

NameText time_text(std::time_t time) noexcept {
  const Moment at = moment_of(time);
  NameText text;
  text.add_number(at.year, 4);
  text.add('-');
  text.add_number(at.month, 2);
  text.add('-');
  text.add_number(at.day, 2);
  text.add('T');
  text.add_number(at.hour, 2);
  text.add(':');
  text.add_number(at.minute, 2);
  text.add(':');
  text.add_number(at.second, 2);
  text.add('Z');
  return text;
}

NameText report_name(Bytes program, std::time_t time, std::int64_t process) noexcept {
  NameText name;
  add_program(name, program);
  name.add(name_middle);
  const NameText moment = time_text(time);
  for (const char each : moment.text()) {
    if (each != '-' && each != ':') name.add(each);
  }
  name.add('-');
  name.add_number(static_cast<std::uint64_t>(process));
  name.add(name_ending);
  return name;
}

bool is_report_name(Bytes name, Bytes program) noexcept {
  NameText begin;
  add_program(begin, program);
  begin.add(name_middle);
  if (!name.starts_with(begin.text()) || !name.ends_with(name_ending)) return false;
  name.remove_prefix(begin.used);
  if (name.size() < name_ending.size() + 18) return false;  // 16 of the time, and "-1"
  name.remove_suffix(name_ending.size());
  const Bytes process = name.substr(17);
  return std::ranges::all_of(name.substr(0, 8), is_digit) && name[8] == 'T' &&
         std::ranges::all_of(name.substr(9, 6), is_digit) && name[15] == 'Z' && name[16] == '-' &&
         std::ranges::all_of(process, is_digit);
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
