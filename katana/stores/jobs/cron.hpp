// CronExpression: the times of a calendar at which something is due, as crontab(5) writes them.
//
//   minute   0-59
//   hour     0-23
//   day      1-31
//   month    1-12 or JAN-DEC
//   weekday  0-7 or SUN-SAT; 0 and 7 are Sunday
//
//   field  item[,item…]
//   item   *  value  value-value, each perhaps with /step; value/step goes on to the field's end
//
//   @hourly  @daily (@midnight)  @weekly  @monthly  @yearly (@annually)
//
// Day and weekday: where one of them begins with *, both have to match. Otherwise one of them is
// enough, as in every cron since Vixie's. A step may be as large as its field (*/24 of hours, */60
// of minutes): only the first value then matches. Times are those of one clock: schedule.hpp
// describes zones whose clocks change.
//
// Owns       its text, of at most text_bytes_max bytes.
// Thread     a value.
// Allocates  the messages of errors.
// Fails      parse() names the field, its position (from 1) and the expected form. An expression
//            that no calendar fulfils (30 February) is an error. The compiler checks a literal.
// Invariant  next(t) > t, and no time between them matches.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana::jobs {

// In the message of the compiler their names say what is wrong.
inline void a_cron_expression_has_five_fields() {}
inline void a_field_of_a_cron_expression_is_malformed() {}
inline void a_value_of_a_cron_expression_is_out_of_range() {}
inline void no_date_matches_this_cron_expression() {}

namespace detail {

struct CronProblem {
  enum class Kind : std::uint8_t {
    none,
    too_long,
    nickname,  // beginning with @, and none that there is
    reboot,
    field_count,
    no_value,  // where one was expected
    unknown_name,
    out_of_range,
    step_out_of_range,
    backwards,  // a range whose end comes first
    trailing,   // bytes that belong to no item
    impossible,
  };
  Kind kind = Kind::none;
  std::size_t field = 0;     // of the five; with field_count how many there are
  std::size_t position = 0;  // from 0, in bytes
  std::uint32_t value = 0;
};

}  // namespace detail

class CronExpression {
 public:
  static constexpr std::size_t text_bytes_max = 120;  // longer text is an Error

  // An Error names the field, its position and the values that are allowed there.
  static Result<CronExpression> parse(Bytes text);
  template <std::size_t Size>
  consteval CronExpression(const char (&literal)[Size]) {
    using Kind = detail::CronProblem::Kind;
    switch (read(Bytes(literal, Size - 1)).kind) {
      case Kind::none: break;
      case Kind::field_count: a_cron_expression_has_five_fields(); break;
      case Kind::out_of_range:
      case Kind::step_out_of_range: a_value_of_a_cron_expression_is_out_of_range(); break;
      case Kind::impossible: no_date_matches_this_cron_expression(); break;
      default: a_field_of_a_cron_expression_is_malformed(); break;
    }
  }

  // The first time after `after` that matches; max() beyond the year 9999.
  std::chrono::sys_seconds next(std::chrono::sys_seconds after) const noexcept;
  bool matches(std::chrono::sys_seconds time) const noexcept;
  // True when the field of hours begins with *: the expression is due in every hour, or in every
  // second one and the like.
  bool counts_hours() const noexcept { return starred_[1]; }
  Bytes text() const noexcept { return text_; }
  bool operator==(const CronExpression& other) const noexcept { return text() == other.text(); }

 private:
  struct Reader;
  static constexpr std::size_t field_count = 5;

  constexpr CronExpression() noexcept = default;
  constexpr detail::CronProblem read(Bytes text);
  constexpr detail::CronProblem read_fields(Bytes fields);
  constexpr bool is_possible() const noexcept;
  bool matches_day(std::chrono::year_month_day date) const noexcept;
  constexpr bool has(std::size_t field, unsigned value) const noexcept {
    return (values_[field] >> value & 1) != 0;
  }

  std::array<std::uint64_t, field_count> values_{};  // a bit for each value of a field that matches
  std::array<bool, field_count> starred_{};          // it begins with *
  ShortText<text_bytes_max> text_;
};

namespace detail {

enum CronField : std::size_t { minute, hour, day, month, weekday };

struct CronFieldRule {
  Bytes name;
  unsigned min;
  unsigned max;
  Bytes names = {};  // of three letters each, the first for names_from
  unsigned names_from = 0;

  constexpr unsigned step_max() const { return max - min + 1 > max ? max - min + 1 : max; }
};
inline constexpr std::array<CronFieldRule, 5> cron_fields{
    {{"minute", 0, 59},
     {"hour", 0, 23},
     {"day", 1, 31},
     {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", 1},
     {"weekday", 0, 7, "SUNMONTUEWEDTHUFRISAT", 0}}};

struct CronNickname {
  Bytes name;
  Bytes fields;
};
inline constexpr std::array<CronNickname, 7> cron_nicknames{{{"@yearly", "0 0 1 1 *"},
                                                             {"@annually", "0 0 1 1 *"},
                                                             {"@monthly", "0 0 1 * *"},
                                                             {"@weekly", "0 0 * * 0"},
                                                             {"@daily", "0 0 * * *"},
                                                             {"@midnight", "0 0 * * *"},
                                                             {"@hourly", "0 * * * *"}}};

constexpr bool is_cron_space(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_cron_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char upper_of(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
constexpr bool is_cron_letter(char c) { return upper_of(c) >= 'A' && upper_of(c) <= 'Z'; }

}  // namespace detail

// Reads one field, item by item.
struct CronExpression::Reader {
  using Kind = detail::CronProblem::Kind;

  Bytes text;           // of the whole expression
  std::size_t at = 0;   // of the next byte
  std::size_t end = 0;  // of the field
  std::size_t field = 0;
  std::uint64_t values = 0;
  detail::CronProblem problem = {};

  constexpr const detail::CronFieldRule& rule() const { return detail::cron_fields[field]; }
  constexpr bool fail(Kind kind, std::size_t position, std::uint32_t value = 0) {
    problem = {kind, field, position, value};
    return false;
  }
  constexpr bool take(char c) {
    if (at == end || text[at] != c) return false;
    ++at;
    return true;
  }
  constexpr bool take_number(std::uint32_t& number) {
    if (at == end || !detail::is_cron_digit(text[at])) return fail(Kind::no_value, at);
    constexpr std::uint32_t ceiling = 1'000'000;
    for (number = 0; at < end && detail::is_cron_digit(text[at]); ++at) {
      if (number < ceiling) number = number * 10 + static_cast<std::uint32_t>(text[at] - '0');
    }
    return true;
  }
  constexpr bool take_name(std::uint32_t& number) {
    const std::size_t began = at;
    while (at < end && detail::is_cron_letter(text[at])) ++at;
    const Bytes names = rule().names;
    for (std::size_t place = 0; at - began == 3 && place < names.size(); place += 3) {
      std::size_t same = 0;
      while (same < 3 && detail::upper_of(text[began + same]) == names[place + same]) ++same;
      if (same < 3) continue;
      number = static_cast<std::uint32_t>(place / 3) + rule().names_from;
      return true;
    }
    return fail(Kind::unknown_name, began);
  }
  constexpr bool take_value(std::uint32_t& number) {
    const std::size_t began = at;
    if (at < end && detail::is_cron_letter(text[at])) {
      if (!take_name(number)) return false;
    } else if (!take_number(number)) {
      return false;
    }
    if (number < rule().min || number > rule().max) return fail(Kind::out_of_range, began, number);
    return true;
  }
  constexpr bool take_item() {
    const std::size_t began = at;
    std::uint32_t first = rule().min;
    std::uint32_t last = rule().max;
    const bool star = take('*');
    bool single = false;
    if (!star) {
      if (!take_value(first)) return false;
      single = !take('-');
      if (!single && !take_value(last)) return false;
      if (!single && last < first) return fail(Kind::backwards, began);
    }
    std::uint32_t step = 1;
    if (take('/')) {
      const std::size_t step_at = at;
      if (!take_number(step)) return false;
      if (step == 0 || step > rule().step_max())
        return fail(Kind::step_out_of_range, step_at, step);
    } else if (single) {
      last = first;
    }
    for (std::uint32_t value = first; value <= last; value += step) {
      values |= std::uint64_t{1} << value;
    }
    return true;
  }
  constexpr bool take_field() {
    do {
      if (!take_item()) return false;
    } while (take(','));
    return at == end || fail(Kind::trailing, at);
  }
};

constexpr detail::CronProblem CronExpression::read(Bytes text) {
  using Kind = detail::CronProblem::Kind;
  if (text.size() > text_bytes_max) return {Kind::too_long};
  text_ = ShortText<text_bytes_max>(text);
  if (!text.starts_with('@')) return read_fields(text);
  for (const detail::CronNickname& nickname : detail::cron_nicknames) {
    if (text == nickname.name) return read_fields(nickname.fields);
  }
  return {text == "@reboot" ? Kind::reboot : Kind::nickname};
}

constexpr detail::CronProblem CronExpression::read_fields(Bytes fields) {
  using Kind = detail::CronProblem::Kind;
  std::array<std::size_t, field_count> begins{};
  std::array<std::size_t, field_count> ends{};
  std::size_t count = 0;
  for (std::size_t at = 0; at < fields.size(); ++count) {
    while (at < fields.size() && detail::is_cron_space(fields[at])) ++at;
    if (at == fields.size()) break;
    const std::size_t began = at;
    while (at < fields.size() && !detail::is_cron_space(fields[at])) ++at;
    if (count < field_count) begins[count] = began, ends[count] = at;
  }
  if (count != field_count) return {Kind::field_count, count};
  for (std::size_t field = 0; field < field_count; ++field) {
    Reader reader{.text = fields, .at = begins[field], .end = ends[field], .field = field};
    if (!reader.take_field()) return reader.problem;
    values_[field] = reader.values;
    starred_[field] = fields[begins[field]] == '*';
  }
  constexpr std::uint64_t sunday = 1 | 1 << 7;
  if ((values_[detail::weekday] & sunday) != 0) values_[detail::weekday] |= sunday;
  return {is_possible() ? Kind::none : Kind::impossible};
}

// Some month has one of the days. Over 400 years each date is every day of the week.
constexpr bool CronExpression::is_possible() const noexcept {
  if (!starred_[detail::day] && !starred_[detail::weekday]) return true;
  constexpr std::array<unsigned, 13> days{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (unsigned month = 1; month <= 12; ++month) {
    for (unsigned day = 1; has(detail::month, month) && day <= days[month]; ++day) {
      if (has(detail::day, day)) return true;
    }
  }
  return false;
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
