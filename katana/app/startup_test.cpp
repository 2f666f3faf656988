// Startup: orders, failures and reports, with parts that are functions and a clock that stands.
#include "katana/app/startup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

namespace katana::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StartupTest : public testing::Test {
 protected:
  void note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(what);
  }
  StartStep part(const std::string& name, std::vector<std::string> needs = {}) {
    return {.name = name,
            .needs = std::move(needs),
            .start = [this, name]() -> Result<void> {
              note("+" + name);
              return {};
            },
            .stop = [this, name] { note("-" + name); }};
  }
  static StartStep failing(const std::string& name, std::vector<std::string> needs = {}) {
    return {.name = name,
            .needs = std::move(needs),
            .start = [] { return fail(Code::unavailable, "no such file 'x.db'"); },
            .remedy = "Check database.url"};
  }

  std::mutex mutex_;
  std::vector<std::string> notes_;
  Startup startup_;
};

TEST_F(StartupTest, parts_start_after_what_they_need_and_stop_in_reverse) {
  startup_.add(part("http", {"routes"}));
  startup_.add(part("routes", {"log"}));
  startup_.add(part("log", {"configuration"}));
  startup_.add(part("configuration"));
  ASSERT_TRUE(startup_.start());
  startup_.stop();
  EXPECT_THAT(notes_, ElementsAre("+configuration", "+log", "+routes", "+http", "-http", "-routes",
                                  "-log", "-configuration"));
}

// Each waits until the other has begun, which only two threads can do.
TEST_F(StartupTest, parts_that_do_not_need_one_another_start_side_by_side) {
  std::latch both(2);
  const auto meet = [&both]() -> Result<void> {
    both.arrive_and_wait();
    return {};
  };
  startup_.add(part("configuration"));
  startup_.add({.name = "log", .needs = {"configuration"}, .start = meet});
  startup_.add({.name = "database", .needs = {"configuration"}, .start = meet});
  startup_.add(part("services", {"log", "database"}));
  ASSERT_TRUE(startup_.start());
  EXPECT_EQ(startup_.reports().size(), 4u);
  EXPECT_EQ(startup_.reports().back().name, "services");
}

// While the first part starts, parts that need only the second go on.
TEST_F(StartupTest, a_long_part_does_not_hold_up_those_that_do_not_need_it) {
  std::latch last_began(1);
  startup_.add({.name = "slow", .start = [&]() -> Result<void> {
                  last_began.wait();
                  return {};
                }});
  startup_.add(part("quick"));
  startup_.add({.name = "behind", .needs = {"quick"}, .start = [&]() -> Result<void> {
                  last_began.count_down();
                  return {};
                }});
  EXPECT_TRUE(startup_.start());
}

TEST_F(StartupTest, a_failure_names_the_part_its_needs_the_cause_and_the_remedy) {
  startup_.add(part("configuration"));
  startup_.add(part("log"));
  startup_.add(failing("database", {"configuration", "log"}));
  startup_.add(part("services", {"database"}));
  const auto started = startup_.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::unavailable);
  EXPECT_EQ(started.error().describe(),
            "'database' did not start: no such file 'x.db'. Check "
            "database.url");
}

TEST_F(StartupTest, after_a_failure_what_started_is_stopped_in_reverse_and_nothing_else_begins) {
  startup_.add(part("configuration"));
  startup_.add(part("log", {"configuration"}));
  startup_.add(failing("database", {"log"}));
  startup_.add(part("services", {"database"}));
  ASSERT_FALSE(startup_.start());
  EXPECT_THAT(notes_, ElementsAre("+configuration", "+log", "-log", "-configuration"));
}

TEST_F(StartupTest, every_part_that_fails_is_named_and_what_needs_none_of_them_is_tried) {
  startup_.add(part("configuration"));
  startup_.add(failing("database", {"configuration"}));
  startup_.add(failing("cache", {"configuration"}));
  startup_.add(part("services", {"database", "cache"}));
  const auto started = startup_.start();
  ASSERT_FALSE(started);
  const std::string error = started.error().describe();
  EXPECT_THAT(error, HasSubstr("2 parts did not start:"));
  EXPECT_THAT(error, HasSubstr("\n  'database' did not start: "));
  EXPECT_THAT(error, HasSubstr("\n  'cache' did not start: "));
  EXPECT_THAT(notes_, ElementsAre("+configuration", "-configuration"));
}

TEST_F(StartupTest, a_part_that_throws_has_failed) {
  startup_.add(
      {.name = "routes", .start = []() -> Result<void> { throw std::runtime_error("x"); }});
  const auto started = startup_.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().describe(), "'routes' did not start: x");
}

TEST_F(StartupTest, a_circle_a_missing_part_and_a_name_that_is_there_twice_are_named) {
  startup_.add(part("a", {"b"}));
  startup_.add(part("b", {"a"}));
  EXPECT_THAT(startup_.start().error().describe(), HasSubstr("need one another in a circle"));
  Startup missing;
  missing.add(part("a", {"clock"}));
  EXPECT_THAT(missing.start().error().describe(), HasSubstr("part 'a' needs 'clock'"));
  Startup twice;
  twice.add(part("a"));
  twice.add(part("a"));
  EXPECT_THAT(twice.start().error().describe(), HasSubstr("part 'a' is there twice"));
  EXPECT_TRUE(notes_.empty());
}

TEST_F(StartupTest, reports_say_when_each_began_and_what_it_took) {
  std::int64_t now_ms = 100;
  Startup startup([&] { return Instant{milliseconds(now_ms).ns}; });
  const auto taking = [&](std::int64_t ms) {
    return [&now_ms, ms]() -> Result<void> {
      now_ms += ms;
      return {};
    };
  };
  startup.add({.name = "configuration", .start = taking(2)});
  startup.add({.name = "log", .needs = {"configuration"}, .start = taking(3)});
  ASSERT_TRUE(startup.start());
  EXPECT_EQ(startup.describe(), "configuration 2.0 ms, log 3.0 ms");
  EXPECT_EQ(startup.reports()[1].began, milliseconds(2));
  EXPECT_EQ(startup.reports()[1].took, milliseconds(3));
}

TEST_F(StartupTest, times_for_people_have_two_digits_and_are_whole_from_ten_on) {
  EXPECT_EQ(short_ms(Duration{3'123}), 0.0031);
  EXPECT_EQ(short_ms(Duration{398'581}), 0.4);
  EXPECT_EQ(short_ms(Duration{9'340'000}), 9.3);
  EXPECT_EQ(short_ms(Duration{45'600'000}), 46);
  EXPECT_EQ(short_ms(Duration{1'712'400'000}), 1712);
  EXPECT_EQ(short_ms(Duration{}), 0);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
