// Schedule: when a job is due.
//
//   every(seconds(600))       at the multiples of ten minutes since 1970 (UTC): 12:00, 12:10, …
//   after(seconds(30))        half a minute after the last run ended
//   cron("15 3 * * *")        as cron.hpp says, in UTC
//   cron("15 3 * * *", "Europe/Berlin")   by the clocks there
//
// As text, in configuration: "every 10m", "after 30s", "15 3 * * *", "@daily",
// "CRON_TZ=Europe/Berlin 15 3 * * *" (also "TZ=").
//
// In a zone whose clocks change, an expression that names hours is due once a day. A time that the
// clocks skip is due at the change; if they show a time twice, the first one counts. An expression
// whose hours begin with * goes on through the change: */15 stays a quarter of an hour.
//
// The ticks of every() and cron() are the same for all instances of a program and for all its
// restarts. Therefore a job that is due every hour runs also where the program restarts every half
// an hour. Instances can agree which of them runs a tick (lock.hpp).
//
// Owns       its values.
// Thread     a value.
// Allocates  texts and messages.
// Fails      parse() with an Error that names the expected form. The compiler checks a literal of
//            cron(); check() fails when the system has no such time zone.
// Invariant  next(t) > t.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/stores/jobs/cron.hpp"
#include "katana/stores/jobs/time_zone.hpp"

namespace katana::jobs {

// Bounds of every() and after(); other intervals are refused.
inline constexpr Duration interval_min = milliseconds(10);
inline constexpr Duration interval_max = seconds(std::int64_t{366} * 24 * 3600);

class Schedule {
 public:
  // At multiples of an interval, an interval after the last run, or by the calendar.
  enum class Kind : std::uint8_t { every, after, cron };

  // Reads the forms above. An Error names the mistake and the allowed forms.
  static Result<Schedule> parse(Bytes text);

  Schedule(const CronExpression& expression) noexcept : kind_(Kind::cron), cron_(expression) {}
  Schedule(const CronExpression& expression, Bytes zone);
  Kind kind() const noexcept { return kind_; }  // which of the three forms it has
  // The interval of every(), or the pause of after().
  Duration interval() const noexcept { return interval_; }
  // An Error: an interval beyond interval_min and interval_max, or an unknown time zone.
  Result<void> check() const;

  // The first tick behind `time`. With after(): the tick that follows a run which ended then.
  Timestamp next(Timestamp time) const noexcept;
  // Ticks that are due, of which a job runs the last.
  struct Passed {
    Timestamp last;           // the latest one
    std::uint64_t count = 0;  // at most count_max
  };
  static constexpr std::uint64_t count_max = 10'000;  // more ticks are not counted
  // The ticks from `first`, which is one, to `now`, which is not before it.
  Passed passed(Timestamp first, Timestamp now) const noexcept;

  // The text that parse() reads as the same schedule.
  std::string text() const;
  bool operator==(const Schedule& other) const noexcept {
    return kind_ == other.kind_ && interval_ == other.interval_ && cron_ == other.cron_ &&
           zone_name_ == other.zone_name_;
  }

 private:
  friend Schedule every(Duration interval) noexcept;
  friend Schedule after(Duration pause) noexcept;
  Schedule(Kind kind, Duration interval) noexcept : kind_(kind), interval_(interval) {}
  std::chrono::sys_seconds next_of_cron(std::chrono::sys_seconds after) const noexcept;

  Kind kind_;
  Duration interval_ = {};
  std::optional<CronExpression> cron_;
  std::string zone_name_;                 // empty: UTC
  std::shared_ptr<const TimeZone> zone_;  // null: UTC, or unknown
};

// Due at whole multiples of the interval, the same on every instance.
inline Schedule every(Duration interval) noexcept {
  return Schedule(Schedule::Kind::every, interval);
}
// Due `pause` after the end of the previous run.
inline Schedule after(Duration pause) noexcept { return Schedule(Schedule::Kind::after, pause); }
// An expression in UTC. For a text that the compiler does not know use Schedule::parse().
inline Schedule cron(const CronExpression& expression) noexcept { return Schedule(expression); }
// An expression by the clocks of a zone, such as "Europe/Berlin".
inline Schedule cron(const CronExpression& expression, Bytes zone) {
  return Schedule(expression, zone);
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
