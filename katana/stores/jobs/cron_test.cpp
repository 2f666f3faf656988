#include "katana/stores/jobs/cron.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/base/system/compiler_test.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::jobs {
namespace {

std::chrono::sys_seconds at(const char* text) {
  const auto time = TextForm<std::chrono::sys_seconds>::parse(text);
  EXPECT_TRUE(time) << text;
  return time.value_or(std::chrono::sys_seconds());
}
std::string text_of(std::chrono::sys_seconds time) {
  return std::string(Bytes(TextForm<std::chrono::sys_seconds>::write(time)));
}

struct Case {
  const char* expression;
  const char* after;
  std::vector<const char*> next;
};

class CronTimes : public testing::TestWithParam<Case> {};

TEST_P(CronTimes, come_in_their_order) {
  const auto expression = CronExpression::parse(GetParam().expression);
  ASSERT_TRUE(expression) << expression.error().describe();
  auto time = at(GetParam().after);
  for (const char* expected : GetParam().next) {
    time = expression->next(time);
    EXPECT_EQ(text_of(time), expected) << GetParam().expression;
    EXPECT_TRUE(expression->matches(time));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, CronTimes,
    testing::Values(
        Case{"* * * * *", "2026-11-24T10:00:00Z", {"2026-11-24T10:01:00Z", "2026-11-24T10:02:00Z"}},
        Case{"* * * * *", "2026-11-24T10:00:59Z", {"2026-11-24T10:01:00Z"}},
        Case{
            "15 3 * * *", "2026-11-24T03:14:59Z", {"2026-11-24T03:15:00Z", "2026-11-25T03:15:00Z"}},
        Case{"15 3 * * *", "2026-11-24T03:15:00Z", {"2026-11-25T03:15:00Z"}},
        Case{"*/20 * * * *",
             "2026-12-31T23:30:00Z",
             {"2026-12-31T23:40:00Z", "2027-01-01T00:00:00Z", "2027-01-01T00:20:00Z"}},
        Case{"5/25 0 * * *",
             "2026-01-01T00:00:00Z",
             {"2026-01-01T00:05:00Z", "2026-01-01T00:30:00Z", "2026-01-01T00:55:00Z",
              "2026-01-02T00:05:00Z"}},
        Case{"10-20/5,40 * * * *",
             "2026-01-01T00:00:00Z",
             {"2026-01-01T00:10:00Z", "2026-01-01T00:15:00Z", "2026-01-01T00:20:00Z",
              "2026-01-01T00:40:00Z", "2026-01-01T01:10:00Z"}},
        Case{"0 9-17/4 * * mon-fri",
             "2026-11-27T13:00:00Z",  // a Friday
             {"2026-11-27T17:00:00Z", "2026-11-30T09:00:00Z"}},
        Case{
            "0 0 31 * *", "2026-01-31T00:00:00Z", {"2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"}},
        Case{"0 0 29 feb *", "2096-03-01T00:00:00Z", {"2104-02-29T00:00:00Z"}},  // 2100 has none
        Case{"0 0 29 2 */7",
             "2001-01-01T00:00:00Z",
             {"2004-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
        Case{"0 0 * JAN,jul 7",
             "2026-07-20T00:00:00Z",
             {"2026-07-26T00:00:00Z", "2027-01-03T00:00:00Z"}},
        // Both day and weekday are limited: one of them is enough.
        Case{"0 12 13 * fri",
             "2026-11-12T12:00:00Z",
             {"2026-11-13T12:00:00Z", "2026-11-20T12:00:00Z", "2026-11-27T12:00:00Z",
              "2026-12-04T12:00:00Z", "2026-12-11T12:00:00Z", "2026-12-13T12:00:00Z"}},
        // One of the two fields begins with *: both have to match.
        Case{"0 12 */2 * fri",
             "2026-11-12T12:00:00Z",
             {"2026-11-13T12:00:00Z", "2026-11-27T12:00:00Z"}},
        Case{"0 0 * * 0", "2026-11-24T00:00:00Z", {"2026-11-29T00:00:00Z"}},
        Case{"@hourly", "2026-11-24T10:30:00Z", {"2026-11-24T11:00:00Z"}},
        Case{"@daily", "2026-11-24T10:30:00Z", {"2026-11-25T00:00:00Z"}},
        Case{"@midnight", "2026-11-24T10:30:00Z", {"2026-11-25T00:00:00Z"}},
        Case{"@weekly", "2026-11-24T10:30:00Z", {"2026-11-29T00:00:00Z"}},
        Case{"@monthly", "2026-11-24T10:30:00Z", {"2026-12-01T00:00:00Z"}},
        Case{"@yearly", "2026-11-24T10:30:00Z", {"2027-01-01T00:00:00Z"}},
        Case{"@annually", "2026-11-24T10:30:00Z", {"2027-01-01T00:00:00Z"}},
        Case{" \t0  0\t1 1 * ", "2026-11-24T10:30:00Z", {"2027-01-01T00:00:00Z"}},
        Case{"59 23 31 12 *", "1969-12-31T23:58:30Z", {"1969-12-31T23:59:00Z"}}));

// The search skips only minutes that do not match: the test asks each minute of two months.
TEST(CronExpression, next_leaves_no_matching_minute_out) {
  for (const char* text :
       {"7,31 */5 10-20/3 * 2", "0 22 28-31 2 *", "* 1 * 3 sat", "1 1 1,15 * *"}) {
    const auto expression = CronExpression::parse(text);
    ASSERT_TRUE(expression);
    auto next = expression->next(at("2028-02-01T00:00:00Z"));
    for (auto time = at("2028-02-01T00:01:00Z"); time < at("2028-04-01T00:00:00Z");
         time += std::chrono::minutes(1)) {
      ASSERT_EQ(expression->matches(time), time == next) << text << " " << text_of(time);
      if (time == next) next = expression->next(time);
    }
  }
}

TEST(CronExpression, beyond_the_last_year_there_is_no_next_time) {
  const auto expression = CronExpression::parse("* * * * *");
  EXPECT_EQ(expression->next(std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1)),
            std::chrono::sys_seconds::max());
  EXPECT_EQ(CronExpression::parse("0 0 1 1 *")->next(at("9999-06-01T00:00:00Z")),
            std::chrono::sys_seconds::max());
}

struct Wrong {
  const char* text;
  const char* message;
};
class WrongCron : public testing::TestWithParam<Wrong> {};

TEST_P(WrongCron, names_the_field_and_the_position) {
  const auto parsed = CronExpression::parse(GetParam().text);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message(),
            "cron expression '" + std::string(GetParam().text) + "': " + GetParam().message);
  EXPECT_EQ(parsed.error().code(), Code::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(
    Table, WrongCron,
    testing::Values(
        Wrong{"", "it has 0 fields, expected five: minute, hour, day, month, weekday"},
        Wrong{"* * * *", "it has 4 fields, expected five: minute, hour, day, month, weekday"},
        Wrong{"0 0 3 * * *", "it has 6 fields, expected five: minute, hour, day, month, weekday"},
        Wrong{"60 * * * *", "minute (position 1): 60 is not within 0 to 59"},
        Wrong{"0 24 * * *", "hour (position 3): 24 is not within 0 to 23"},
        Wrong{"0 0 0 * *", "day (position 5): 0 is not within 1 to 31"},
        Wrong{"0 0 1 13 *", "month (position 7): 13 is not within 1 to 12"},
        Wrong{"0 0 * * 8", "weekday (position 9): 8 is not within 0 to 7"},
        Wrong{"99999999999 * * * *", "minute (position 1): 9999999 is not within 0 to 59"},
        Wrong{"0 0 * * mond",
              "weekday (position 9): unknown name 'mond', expected 0 to 7, or SUN "
              "to SAT"},
        Wrong{"0 0 * jann *",
              "month (position 7): unknown name 'jann', expected 1 to 12, or JAN "
              "to DEC"},
        Wrong{"0 mon * * *", "hour (position 3): unknown name 'mon', expected 0 to 23"},
        Wrong{"1,,2 * * * *", "minute (position 3): expected 0 to 59, got ',2'"},
        Wrong{"1, * * * *", "minute (position 3): a value is missing, expected 0 to 59"},
        Wrong{"-5 * * * *", "minute (position 1): expected 0 to 59, got '-5'"},
        Wrong{"* 5- * * *", "hour (position 5): a value is missing, expected 0 to 23"},
        Wrong{"*/0 * * * *", "minute (position 3): step 0 is not within 1 to 60"},
        Wrong{"*/61 * * * *", "minute (position 3): step 61 is not within 1 to 60"},
        Wrong{"0 */25 * * *", "hour (position 5): step 25 is not within 1 to 24"},
        Wrong{"*/ * * * *", "minute (position 3): a value is missing, expected 0 to 59"},
        Wrong{"0 0 * * fri-mon",
              "weekday (position 9): the range 'fri-mon' ends before it begins; "
              "write two, separated by a comma"},
        Wrong{"0 0 ? * *", "day (position 5): expected 1 to 31, got '?'"},
        Wrong{"0 0 15W * *", "day (position 7): unexpected 'W'"},
        Wrong{"0 0 * * 5#2", "weekday (position 10): unexpected '#2'"},
        Wrong{"** * * * *", "minute (position 2): unexpected '*'"},
        Wrong{"0 0 30 2 *", "no date matches it"}, Wrong{"0 0 31 4,6,9,11 *", "no date matches it"},
        Wrong{"@reboot", "a job that runs at the start has JobOptions::run_at_start"},
        Wrong{"@often", "unknown name; there are @hourly, @daily, @weekly, @monthly and @yearly"}));

TEST(CronExpression, a_text_beyond_its_limit_is_refused) {
  const auto parsed = CronExpression::parse(std::string(200, '*'));
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message().find("it has 200 bytes, 120 at most"), std::string::npos);
}

TEST(CronExpression, a_literal_is_judged_by_the_compiler) {
  if (compiler().empty()) GTEST_SKIP() << "no compiler is installed here";
  const auto with = [](const std::string& literal) {
    return compile(
        "#include \"katana/stores/jobs/cron.hpp\"\n"
        "katana::jobs::CronExpression one() { return \"" +
        literal + "\"; }\n");
  };
  const Compiled right = with("15 3 * * mon-fri");
  EXPECT_TRUE(right.good) << right.output;
  for (const auto& [literal, words] :
       {std::pair("15 3 * *", "a_cron_expression_has_five_fields"),
        std::pair("61 * * * *", "a_value_of_a_cron_expression_is_out_of_range"),
        std::pair("x * * * *", "a_field_of_a_cron_expression_is_malformed"),
        std::pair("0 0 30 2 *", "no_date_matches_this_cron_expression")}) {
    const Compiled wrong = with(literal);
    EXPECT_FALSE(wrong.good);
    EXPECT_NE(wrong.output.find(words), std::string::npos) << wrong.output;
  }
}

}  // namespace
}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
