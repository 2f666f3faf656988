#include "katana/stores/jobs/schedule.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/stores/jobs/wall_time.hpp"

namespace katana::jobs {
namespace {

Timestamp stamp(const char* text) { return *TextForm<Timestamp>::parse(text); }

TEST(Schedule, every_is_at_the_multiples_of_its_interval_wherever_one_begins_to_count) {
  const Schedule schedule = every(seconds(600));
  EXPECT_EQ(schedule.next(stamp("2026-11-24T10:03:07.5Z")), stamp("2026-11-24T10:10:00Z"));
  EXPECT_EQ(schedule.next(stamp("2026-11-24T10:10:00Z")), stamp("2026-11-24T10:20:00Z"));
  const Schedule daily = every(seconds(24 * 3600));
  EXPECT_EQ(daily.next(stamp("2026-11-24T10:10:00Z")), stamp("2026-11-25T00:00:00Z"));
  EXPECT_EQ(every(milliseconds(250)).next(stamp("2026-11-24T10:00:00.3Z")),
            stamp("2026-11-24T10:00:00.5Z"));
  EXPECT_EQ(schedule.next(stamp("1969-12-31T23:59:00Z")), stamp("1970-01-01T00:00:00Z"));
}

TEST(Schedule, after_is_its_pause_behind_the_end_of_the_last_run) {
  EXPECT_EQ(after(seconds(30)).next(stamp("2026-11-24T10:03:07.5Z")),
            stamp("2026-11-24T10:03:37.5Z"));
}

TEST(Schedule, cron_is_what_its_expression_says) {
  EXPECT_EQ(cron("15 3 * * *").next(stamp("2026-11-24T03:15:00.9Z")),
            stamp("2026-11-25T03:15:00Z"));
}

TEST(Schedule, ticks_that_passed_are_counted_and_the_last_one_is_known) {
  const auto first = stamp("2026-11-24T10:00:00Z");
  const auto now = stamp("2026-11-24T10:35:00Z");
  for (const Schedule& schedule : {every(seconds(600)), cron("*/10 * * * *")}) {
    const auto passed = schedule.passed(first, now);
    EXPECT_EQ(passed.count, 4u) << schedule.text();
    EXPECT_EQ(passed.last, stamp("2026-11-24T10:30:00Z")) << schedule.text();
    EXPECT_EQ(schedule.passed(first, first).count, 1u);
  }
  EXPECT_EQ(after(seconds(600)).passed(first, now).count, 1u);
  // A machine that slept for a year: bounded, whatever the schedule.
  EXPECT_EQ(cron("* * * * *").passed(first, stamp("2027-11-24T10:00:00Z")).count,
            Schedule::count_max);
}

TEST(Schedule, its_text_reads_as_the_same_schedule) {
  for (const Schedule& schedule :
       {every(seconds(90)), after(milliseconds(1500)), cron("15 3 * * mon"), cron("@daily")}) {
    const auto read = Schedule::parse(schedule.text());
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(*read, schedule);
  }
  EXPECT_EQ(Schedule::parse("every 10m")->interval(), seconds(600));
  EXPECT_EQ(Schedule::parse("every 10m")->text(), "every 10m");
}

TEST(Schedule, a_text_that_is_none_is_refused_with_what_was_expected) {
  const auto message = [](const char* text) {
    const auto read = Schedule::parse(text);
    EXPECT_FALSE(read) << text;
    return read ? std::string() : std::string(read.error().message());
  };
  EXPECT_EQ(message("often"),
            "schedule 'often': expected 'every 10m', 'after 30s', five fields of cron such as "
            "'15 3 * * *', or '@daily'");
  EXPECT_EQ(message("every 10"),
            "schedule 'every 10': expected a duration with its unit (ns, us, ms, s, m, h or d), "
            "got '10'");
  EXPECT_EQ(message("every 0s"), "schedule 'every 0s': expected an interval from 10ms to 366d");
  EXPECT_EQ(message("after 400d"), "schedule 'after 400d': expected an interval from 10ms to 366d");
  EXPECT_EQ(message("15 3 * *"),
            "cron expression '15 3 * *': it has 4 fields, expected five: minute, hour, day, month, "
            "weekday");
  EXPECT_FALSE(every(Duration{-5}).check());
}

TEST(WallTime, follows_the_clock_and_never_runs_ahead_of_it_by_more_than_a_step) {
  WallTime wall;
  const auto us = [&](std::int64_t now_ms, std::int64_t clock_s) {
    return wall.at({now_ms * 1'000'000}, clock_s).time_since_epoch().count();
  };
  EXPECT_EQ(us(500, 1'000), 1'000'000'000);
  EXPECT_EQ(us(700, 1'000), 1'000'200'000);
  // The second ended earlier than the first look made believe: it was 1000.4 s at 500 ms, or later.
  EXPECT_EQ(us(1'100, 1'001), 1'001'000'000);
  EXPECT_EQ(us(1'200, 1'001), 1'001'100'000);
  EXPECT_EQ(us(2'000, 5'000), 5'000'000'000);  // set forward
  EXPECT_EQ(us(3'000, 4'000), 4'000'000'000);  // set back
}

}  // namespace
}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
