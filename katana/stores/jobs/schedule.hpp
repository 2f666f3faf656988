// Schedule: when a job is due.
//
//   every(seconds(600))       at the multiples of ten minutes since 1970 (UTC): 12:00, 12:10, …
//   after(seconds(30))        half a minute after the last run ended
//   cron("15 3 * * *")        as cron.hpp says, in UTC
//
// As text, in configuration: "every 10m", "after 30s", "15 3 * * *", "@daily".
//
// The ticks of every() and cron() are the same for all instances of a program and for all its
// restarts, so a job that is due every hour runs also where the program restarts every half an
// hour, and instances can agree on who runs which tick (lock.hpp).
//
// Owns       its values.
// Thread     a value.
// Allocates  texts and messages.
// Fails      parse() says what was expected. A literal of cron() is judged by the compiler.
// Invariant  next(t) > t.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/stores/jobs/cron.hpp"

namespace katana::jobs {

// Bounds of every() and after(); what is beyond them is refused.
inline constexpr Duration interval_min = milliseconds(10);
inline constexpr Duration interval_max = seconds(std::int64_t{366} * 24 * 3600);

class Schedule {
 public:
  enum class Kind : std::uint8_t { every, after, cron };

  static Result<Schedule> parse(Bytes text);

  Schedule(const CronExpression& expression) noexcept : kind_(Kind::cron), cron_(expression) {}
  Kind kind() const noexcept { return kind_; }
  // Of every() and after().
  Duration interval() const noexcept { return interval_; }
  // An Error: an interval beyond interval_min and interval_max.
  Result<void> check() const;

  // The first tick behind `time`. With after(): of a run that ended then.
  Timestamp next(Timestamp time) const noexcept;
  struct Passed {
    Timestamp last;
    std::uint64_t count = 0;  // at most count_max
  };
  static constexpr std::uint64_t count_max = 10'000;
  // The ticks from `first`, which is one, to `now`, which is not before it.
  Passed passed(Timestamp first, Timestamp now) const noexcept;

  // What parse() reads as the same schedule.
  std::string text() const;
  bool operator==(const Schedule&) const = default;

 private:
  friend Schedule every(Duration interval) noexcept;
  friend Schedule after(Duration pause) noexcept;
  Schedule(Kind kind, Duration interval) noexcept : kind_(kind), interval_(interval) {}

  Kind kind_;
  Duration interval_ = {};
  std::optional<CronExpression> cron_;
};

// At whole multiples of the interval, the same on every instance.
inline Schedule every(Duration interval) noexcept {
  return Schedule(Schedule::Kind::every, interval);
}
// So long after the run before has ended.
inline Schedule after(Duration pause) noexcept { return Schedule(Schedule::Kind::after, pause); }
// What is not known to the compiler is for Schedule::parse().
inline Schedule cron(const CronExpression& expression) noexcept { return Schedule(expression); }

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
