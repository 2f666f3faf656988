#include "katana/stores/jobs/schedule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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
    const auto at_a_tick = schedule.passed(first, passed.last);
    EXPECT_EQ(at_a_tick.count, 4u) << schedule.text();
    EXPECT_EQ(at_a_tick.last, passed.last) << schedule.text();
  }
  EXPECT_EQ(after(seconds(600)).passed(first, now).count, 1u);
  // A machine slept for a year: the count is bounded, whatever the schedule.
  EXPECT_EQ(cron("* * * * *").passed(first, stamp("2027-11-24T10:00:00Z")).count,
            Schedule::count_max);
}

TEST(Schedule, at_the_end_of_time_there_is_no_further_tick) {
  for (const Schedule& schedule : {every(seconds(10)), after(seconds(10)), cron("* * * * *")}) {
    EXPECT_EQ(schedule.next(Timestamp::max()), Timestamp::max()) << schedule.text();
    EXPECT_EQ(schedule.next(Timestamp::max() - std::chrono::seconds(1)), Timestamp::max());
  }
}

TEST(Schedule, a_step_as_large_as_its_field_is_the_first_value_alone) {
  for (const auto& [whole, first] :
       {std::pair("0 */24 * * *", "0 0 * * *"), std::pair("*/60 * * * *", "0 * * * *"),
        std::pair("0 0 1 */12 *", "0 0 1 1 *"), std::pair("0 0 */31 * *", "0 0 1 * *")}) {
    const auto one = Schedule::parse(whole);
    const auto other = Schedule::parse(first);
    ASSERT_TRUE(one && other) << whole;
    Timestamp time = stamp("2026-11-24T10:00:00Z");
    for (int count = 0; count < 5; ++count) {
      EXPECT_EQ(one->next(time), other->next(time)) << whole;
      time = one->next(time);
    }
  }
}

class ZonedSchedule : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TimeZone::load("Europe/Berlin")) GTEST_SKIP() << "tzdata is not installed";
  }
  // The next times of a schedule, as hours of UTC.
  static std::vector<std::string> next_of(const char* text, const char* from, int count) {
    const auto schedule = Schedule::parse(text);
    if (!schedule) return {schedule.error().describe()};
    std::vector<std::string> times;
    Timestamp time = stamp(from);
    for (; count > 0; --count) {
      time = schedule->next(time);
      times.emplace_back(Bytes(TextForm<Timestamp>::write(time)).substr(5, 11));
    }
    return times;
  }
  using Times = std::vector<std::string>;
};

TEST_F(ZonedSchedule, is_due_at_the_same_time_of_the_clock_in_summer_and_winter) {
  EXPECT_EQ(next_of("CRON_TZ=Europe/Berlin 15 9 28 * *", "2026-01-01T00:00:00Z", 4),
            (Times{"01-28T08:15", "02-28T08:15", "03-28T08:15", "04-28T07:15"}));
  EXPECT_EQ(next_of("TZ=America/New_York 0 0 * * mon", "2026-03-02T06:00:00Z", 2),
            (Times{"03-09T04:00", "03-16T04:00"}));
}

TEST_F(ZonedSchedule, a_time_that_the_clocks_skip_is_due_at_the_change_and_once) {
  EXPECT_EQ(next_of("CRON_TZ=Europe/Berlin 30 2 * * *", "2026-03-28T00:00:00Z", 3),
            (Times{"03-28T01:30", "03-29T01:00", "03-30T00:30"}));
  EXPECT_EQ(next_of("CRON_TZ=Europe/Berlin */20 2 * * *", "2026-03-28T12:00:00Z", 3),
            (Times{"03-29T01:00", "03-30T00:00", "03-30T00:20"}));
  EXPECT_EQ(next_of("CRON_TZ=Europe/Berlin 0 2,3 * * *", "2026-03-28T12:00:00Z", 2),
            (Times{"03-29T01:00", "03-30T00:00"}));
}

TEST_F(ZonedSchedule, a_time_that_the_clocks_show_twice_is_due_once) {
  EXPECT_EQ(next_of("CRON_TZ=Europe/Berlin 30 2 * * *", "2026-10-24T12:00:00Z", 3),
            (Times{"10-25T00:30", "10-26T01:30", "10-27T01:30"}));
  EXPECT_EQ(next_of("CRON_TZ=Europe/Berlin 0 1-3 * * *", "2026-10-24T12:00:00Z", 3),
            (Times{"10-24T23:00", "10-25T00:00", "10-25T02:00"}));
}

TEST_F(ZonedSchedule, an_interval_goes_on_through_a_change) {
  EXPECT_EQ(next_of("CRON_TZ=Europe/Berlin */30 * * * *", "2026-10-25T00:15:00Z", 5),
            (Times{"10-25T00:30", "10-25T01:00", "10-25T01:30", "10-25T02:00", "10-25T02:30"}));
  EXPECT_EQ(next_of("CRON_TZ=Europe/Berlin */30 * * * *", "2026-03-29T00:15:00Z", 3),
            (Times{"03-29T00:30", "03-29T01:00", "03-29T01:30"}));
  EXPECT_EQ(next_of("CRON_TZ=Asia/Kolkata 0 * * * *", "2026-03-29T00:15:00Z", 2),
            (Times{"03-29T00:30", "03-29T01:30"}));
}

TEST_F(ZonedSchedule, ticks_of_every_zone_ascend_over_years) {
  for (const char* const zone : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                 "Africa/Casablanca", "Asia/Tehran", "America/St_Johns"}) {
    for (const char* const fields : {"30 2 * * *", "*/45 * * * *", "0 0 * * *", "59 23 * * *"}) {
      const auto schedule = Schedule::parse(std::string("TZ=") + zone + " " + fields);
      ASSERT_TRUE(schedule) << schedule.error().describe();
      Timestamp time = stamp("2026-01-01T00:00:00Z");
      for (int count = 0; count < 320; ++count) {
        const Timestamp next = schedule->next(time);
        ASSERT_GT(next, time) << zone << " " << fields;
        ASSERT_LT(next - time, std::chrono::hours(26)) << zone << " " << fields;
        time = next;
      }
    }
  }
}

TEST_F(ZonedSchedule, its_text_reads_as_the_same_and_an_unknown_zone_is_told) {
  const Schedule schedule = cron("15 3 * * mon", "Europe/Berlin");
  EXPECT_TRUE(schedule.check());
  EXPECT_EQ(schedule.text(), "CRON_TZ=Europe/Berlin 15 3 * * mon");
  EXPECT_EQ(*Schedule::parse(schedule.text()), schedule);
  EXPECT_NE(schedule, cron("15 3 * * mon"));
  const auto unknown = cron("15 3 * * mon", "Europe/Atlantis").check();
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().describe().find("time zone 'Europe/Atlantis'"), std::string::npos);
  for (const char* const text : {"CRON_TZ=Europe/Atlantis 0 0 * * *", "CRON_TZ= 0 0 * * *",
                                 "TZ=Europe/Berlin", "TZ=Europe/Berlin every 5m"}) {
    EXPECT_FALSE(Schedule::parse(text)) << text;
  }
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
            "'15 3 * * *' or 'CRON_TZ=Europe/Berlin 15 3 * * *', or '@daily'");
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
