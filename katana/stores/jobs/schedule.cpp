#include "katana/stores/jobs/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "katana/data/config/units.hpp"

namespace katana::jobs {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t us_of(Duration duration) {
  return std::max<std::int64_t>(duration.ns / 1000, 1);
}

constexpr Timestamp end_of_time = Timestamp::max();

Result<Schedule> parse_interval(Bytes text, Bytes word, Schedule (*make)(Duration) noexcept) {
  auto interval = config::read_duration(text.substr(word.size()));
  if (!interval) {
    return fail(Code::invalid_argument,
                fmt::format("schedule '{}': expected {}", text, interval.error().message()));
  }
  const Schedule schedule = make(*interval);
  if (auto checked = schedule.check(); !checked) return std::unexpected(checked.error());
  return schedule;
}

Result<Schedule> parse_in_zone(Bytes text, Bytes rest) {
  const Bytes zone = rest.substr(0, rest.find(' '));
  const Bytes fields = rest.substr(std::min(zone.size() + 1, rest.size()));
  auto expression = CronExpression::parse(fields);
  if (!expression) {
    return std::unexpected(expression.error().within(
        fmt::format("schedule '{}'", text.substr(0, 2 * CronExpression::text_bytes_max))));
  }
  const Schedule schedule(*expression, zone);
  if (auto checked = schedule.check(); !checked) return std::unexpected(checked.error());
  return schedule;
}

}  // namespace

Schedule::Schedule(const CronExpression& expression, Bytes zone)
    : kind_(Kind::cron), cron_(expression), zone_name_(zone.empty() ? Bytes("?") : zone) {
  if (auto loaded = TimeZone::load(zone_name_)) zone_ = *std::move(loaded);
}

Result<Schedule> Schedule::parse(Bytes text) {
  for (const Bytes word : {Bytes("CRON_TZ="), Bytes("TZ=")}) {
    if (text.starts_with(word)) return parse_in_zone(text, text.substr(word.size()));
  }
  if (text.starts_with("every ")) return parse_interval(text, "every ", &every);
  if (text.starts_with("after ")) return parse_interval(text, "after ", &after);
  auto expression = CronExpression::parse(text);
  if (expression) return Schedule(*expression);
  const bool is_cron = text.find_first_of(" @*") != Bytes::npos;
  if (is_cron) return std::unexpected(expression.error());
  return fail(Code::invalid_argument,
              fmt::format("schedule '{}': expected 'every 10m', 'after 30s', five fields of cron "
                          "such as '15 3 * * *' or 'CRON_TZ=Europe/Berlin 15 3 * * *', or '@daily'",
                          text.substr(0, CronExpression::text_bytes_max)));
}

Result<void> Schedule::check() const {
  if (!zone_name_.empty() && zone_ == nullptr) {
    return std::unexpected(TimeZone::load(zone_name_).error().within("schedule"));
  }
  if (kind_ == Kind::cron || (interval_ >= interval_min && interval_ <= interval_max)) return {};
  return fail(
      Code::invalid_argument,
      fmt::format("schedule '{}': expected an interval from {} to {}", text(),
                  config::write_duration(interval_min), config::write_duration(interval_max)));
}

// The expression is asked in local time, which it takes for that of UTC.
std::chrono::sys_seconds Schedule::next_of_cron(std::chrono::sys_seconds after) const noexcept {
  using std::chrono::local_seconds;
  using std::chrono::sys_seconds;
  const auto clock_at = [](local_seconds local) { return sys_seconds(local.time_since_epoch()); };
  constexpr sys_seconds none = sys_seconds::max();
  if (zone_ == nullptr) return cron_->next(after);
  if (!cron_->counts_hours()) {
    for (sys_seconds clock = clock_at(zone_->to_local(after));;) {
      clock = cron_->next(clock);
      if (clock == none) return none;
      const sys_seconds time = zone_->to_utc(local_seconds(clock.time_since_epoch()));
      if (time > after) return time;
    }
  }
  for (sys_seconds begin = after + std::chrono::seconds(1);;) {
    const std::chrono::seconds offset = zone_->offset_at(begin);
    const sys_seconds change = zone_->change_after(begin);
    const sys_seconds clock = cron_->next(begin + offset - std::chrono::seconds(1));
    if (clock != none && clock - offset < change) return clock - offset;
    if (change == none) return none;
    begin = change;
  }
}

Timestamp Schedule::next(Timestamp time) const noexcept {
  const std::int64_t now_us = time.time_since_epoch().count();
  const std::int64_t interval_us = us_of(interval_);
  if (kind_ != Kind::cron && now_us > INT64_MAX - interval_us) return end_of_time;
  switch (kind_) {
    case Kind::every: {
      const std::int64_t rest = now_us % interval_us + (now_us % interval_us < 0 ? interval_us : 0);
      return Timestamp(microseconds(now_us - rest + interval_us));
    }
    case Kind::after: return Timestamp(microseconds(now_us + interval_us));
    case Kind::cron: break;
  }
  const auto next = next_of_cron(std::chrono::floor<std::chrono::seconds>(time));
  return next == std::chrono::sys_seconds::max() ? end_of_time : Timestamp(next);
}

Schedule::Passed Schedule::passed(Timestamp first, Timestamp now) const noexcept {
  Passed passed{first, 1};
  if (kind_ == Kind::after) return passed;
  if (kind_ == Kind::every) {
    const std::int64_t more = std::max<std::int64_t>((now - first).count() / us_of(interval_), 0);
    passed.last += microseconds(more * us_of(interval_));
    passed.count = std::min(static_cast<std::uint64_t>(more) + 1, count_max);
    return passed;
  }
  for (Timestamp tick = next(first); tick <= now && passed.count < count_max; tick = next(tick)) {
    passed.last = tick;
    ++passed.count;
  }
  return passed;
}

std::string Schedule::text() const {
  switch (kind_) {
    case Kind::every: return "every " + config::write_duration(interval_);
    case Kind::after: return "after " + config::write_duration(interval_);
    case Kind::cron: break;
  }
  return fmt::format("{}{}{}{}", zone_name_.empty() ? "" : "CRON_TZ=", zone_name_,
                     zone_name_.empty() ? "" : " ", cron_->text());
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
