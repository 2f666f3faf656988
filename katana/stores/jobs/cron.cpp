#include "katana/stores/jobs/cron.hpp"

#include <fmt/format.h>

namespace katana::jobs {
namespace {

using detail::CronProblem;
using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

constexpr sys_days first_day_beyond{std::chrono::year(10'000) / 1 / 1};

std::string values_of(const detail::CronFieldRule& rule) {
  std::string values = fmt::format("{} to {}", rule.min, rule.max);
  if (!rule.names.empty()) {
    values += fmt::format(", or {} to {}", rule.names.substr(0, 3),
                          rule.names.substr(rule.names.size() - 3));
  }
  return values;
}

std::string words_of(const CronProblem& problem, Bytes text) {
  using Kind = CronProblem::Kind;
  switch (problem.kind) {
    case Kind::too_long:
      return fmt::format("it has {} bytes, {} at most are allowed", text.size(),
                         CronExpression::text_bytes_max);
    case Kind::nickname:
      return "unknown name; there are @hourly, @daily, @weekly, @monthly and @yearly";
    case Kind::reboot: return "a job that runs at the start has JobOptions::run_at_start";
    case Kind::field_count:
      return fmt::format("it has {} fields, expected five: minute, hour, day, month, weekday",
                         problem.field);
    case Kind::impossible: return "no date matches it";
    default: break;
  }
  const detail::CronFieldRule& rule = detail::cron_fields[problem.field];
  const std::string where = fmt::format("{} (position {}): ", rule.name, problem.position + 1);
  const Bytes rest = text.substr(problem.position);
  const Bytes found = rest.substr(0, rest.find_first_of(" \t"));
  switch (problem.kind) {
    case Kind::no_value:
      return found.empty()
                 ? fmt::format("{}a value is missing, expected {}", where, values_of(rule))
                 : fmt::format("{}expected {}, got '{}'", where, values_of(rule), found);
    case Kind::unknown_name:
      return fmt::format("{}unknown name '{}', expected {}", where, found, values_of(rule));
    case Kind::out_of_range:
      return fmt::format("{}{} is not within {} to {}", where, problem.value, rule.min, rule.max);
    case Kind::step_out_of_range:
      return fmt::format("{}step {} is not within 1 to {}", where, problem.value, rule.step_max());
    case Kind::backwards:
      return fmt::format("{}the range '{}' ends before it begins; write two, separated by a comma",
                         where, found.substr(0, found.find(',')));
    default: return fmt::format("{}unexpected '{}'", where, found);
  }
}

}  // namespace

Result<CronExpression> CronExpression::parse(Bytes text) {
  CronExpression expression;
  const CronProblem problem = expression.read(text);
  if (problem.kind == CronProblem::Kind::none) return expression;
  return fail(Code::invalid_argument,
              fmt::format("cron expression '{}': {}", text.substr(0, text_bytes_max),
                          words_of(problem, text)));
}

bool CronExpression::matches_day(std::chrono::year_month_day date) const noexcept {
  if (!has(detail::month, static_cast<unsigned>(date.month()))) return false;
  const bool of_month = has(detail::day, static_cast<unsigned>(date.day()));
  const bool of_week = has(detail::weekday, std::chrono::weekday(sys_days(date)).c_encoding());
  const bool both = starred_[detail::day] || starred_[detail::weekday];
  return both ? of_month && of_week : of_month || of_week;
}

bool CronExpression::matches(sys_seconds time) const noexcept {
  const sys_days day = std::chrono::floor<days>(time);
  const std::chrono::hh_mm_ss clock(time - day);
  return clock.seconds().count() == 0 && has(detail::hour, unsigned(clock.hours().count())) &&
         has(detail::minute, unsigned(clock.minutes().count())) && matches_day(day);
}

sys_seconds CronExpression::next(sys_seconds after) const noexcept {
  using std::chrono::hours;
  using std::chrono::minutes;
  if (after >= first_day_beyond) return sys_seconds::max();
  const auto begin = std::chrono::floor<minutes>(after) + minutes(1);
  for (sys_days day = std::chrono::floor<days>(begin); day < first_day_beyond;) {
    const std::chrono::year_month_day date(day);
    if (!has(detail::month, static_cast<unsigned>(date.month()))) {
      day = sys_days((date.year() / date.month() + std::chrono::months(1)) / 1);
      continue;
    }
    for (int hour = 0; matches_day(date) && hour < 24; ++hour) {
      if (!has(detail::hour, unsigned(hour)) || day + hours(hour + 1) <= begin) continue;
      for (int minute = 0; minute < 60; ++minute) {
        const auto time = day + hours(hour) + minutes(minute);
        if (time >= begin && has(detail::minute, unsigned(minute))) return time;
      }
    }
    day += days(1);
  }
  return sys_seconds::max();
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
