// TimeZone: the offsets from UTC of one zone of the system's time zone database.
//
//   auto berlin = TimeZone::load("Europe/Berlin");       // /usr/share/zoneinfo, or TZDIR
//   (*berlin)->offset_at(time);                            // 3600 s in winter
//   (*berlin)->to_utc(local);                              // of a time that a clock there shows
//
// Reads TZif (RFC 9636) with the rule for later years in its footer, because the library of g++ 12
// has no std::chrono::locate_zone.
//
// Owns       its transitions.
// Thread     immutable; load() any.
// Allocates  when it is read.
// Fails      load() with an Error that names the zone and the fault: its name, a missing file, or
//            the malformed part of the file. No content of a file makes it read beyond the end.
// Invariant  to_utc() keeps the order of local times: the later of two is not mapped to an earlier
//            moment.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::jobs {

// The time in each year at which the clocks of a zone change, as POSIX writes it.
struct YearlyChange {
  // The form of the day: Jn (without 29 February), n, or Mm.w.d.
  enum class Kind : std::uint8_t { julian, day_of_year, weekday_of_month };
  Kind kind = Kind::julian;  // of this change
  int day = 0;               // 1 to 365, 0 to 365, or a weekday
  int week = 0;              // 1 to 5; 5: the last
  int month = 0;             // 1 to 12
  std::int64_t at_s = 7200;  // from midnight of the clock before the change; also negative

  std::chrono::sys_seconds in_year(int year) const noexcept;  // by the clock before the change

 private:
  std::chrono::sys_days day_in(std::chrono::year year) const noexcept;
};

// The footer of a file: the rule after its last transition.
struct ZoneRule {
  std::int64_t standard_s = 0;         // east of UTC
  std::int64_t daylight_s = 0;         // east of UTC, while daylight-saving time holds
  std::optional<YearlyChange> begins;  // of daylight-saving time; none: there is none
  YearlyChange ends = {};              // of daylight-saving time

  // Reads a text such as "CET-1CEST,M3.5.0,M10.5.0/3".
  static Result<ZoneRule> parse(Bytes text);
};

class TimeZone {
 public:
  static constexpr std::size_t name_bytes_max = 64;  // of a name such as "Europe/Berlin"
  // A larger file is an Error.
  static constexpr std::size_t file_bytes_max = std::size_t{256} * 1024;

  // Read once for a process.
  static Result<std::shared_ptr<const TimeZone>> load(Bytes name);
  // The content of a file.
  static Result<TimeZone> parse(Bytes file);

  // East of Greenwich is positive.
  std::chrono::seconds offset_at(std::chrono::sys_seconds time) const noexcept;
  // The next moment at which the offset may change; max(): there is none.
  std::chrono::sys_seconds change_after(std::chrono::sys_seconds time) const noexcept;
  // The first moment at which clocks show this time. For a time that they skip: the moment of the
  // change.
  std::chrono::sys_seconds to_utc(std::chrono::local_seconds local) const noexcept;
  std::chrono::local_seconds to_local(std::chrono::sys_seconds time) const noexcept {
    return std::chrono::local_seconds(time.time_since_epoch() + offset_at(time));
  }

 private:
  struct Transition {
    std::int64_t at = 0;
    std::int32_t offset_s = 0;
  };
  struct Header;

  Result<void> read_block(Bytes block, const Header& header, std::size_t time_bytes);

  std::vector<Transition> transitions_;
  std::int32_t first_offset_s_ = 0;
  std::optional<ZoneRule> rule_;  // behind the last of them
};

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
