#include "katana/stores/jobs/time_zone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::jobs {
namespace {

using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using ::testing::HasSubstr;

constexpr const char* folder = "/usr/share/zoneinfo";

sys_seconds moment(const char* text) {
  return std::chrono::floor<seconds>(*TextForm<Timestamp>::parse(text));
}

std::string content_of(const std::string& zone) {
  std::ifstream file(std::string(folder) + "/" + zone, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class TimeZoneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string(folder) + "/Europe/Berlin")) {
      GTEST_SKIP() << "tzdata is not installed";
    }
  }
};

// A zone as the C library knows it.
class LibraryZone {
 public:
  explicit LibraryZone(const std::string& name) {
    ::setenv("TZ", (":" + name).c_str(), 1);
    ::tzset();
  }
  ~LibraryZone() {
    ::unsetenv("TZ");
    ::tzset();
  }
  LibraryZone(const LibraryZone&) = delete;
  LibraryZone& operator=(const LibraryZone&) = delete;
  seconds offset_at(std::time_t time) const {
    std::tm local = {};
    ::localtime_r(&time, &local);
    return seconds(local.tm_gmtoff);
  }
};

TEST_F(TimeZoneTest, every_zone_of_the_system_has_the_offsets_that_the_c_library_has) {
  Random random(7);
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name.starts_with("posix/") || name.starts_with("right/")) {
      continue;
    }
    const std::string content = content_of(name);
    if (!content.starts_with("TZif")) continue;
    const auto zone = TimeZone::parse(content);
    ASSERT_TRUE(zone) << name << ": " << zone.error().describe();
    const LibraryZone library(name);
    for (int round = 0; round < 20; ++round) {
      // A time from 1902 to 2150.
      const auto time = static_cast<std::time_t>(random.below(7'826'000'000)) - 2'145'000'000;
      ASSERT_EQ(zone->offset_at(sys_seconds(seconds(time))), library.offset_at(time))
          << name << " at " << time;
      ++compared;
    }
    const sys_seconds change = zone->change_after(moment("2026-01-01T00:00:00Z"));
    if (change == sys_seconds::max()) continue;
    const std::time_t time = change.time_since_epoch().count();
    ASSERT_EQ(zone->offset_at(change), library.offset_at(time)) << name;
    ASSERT_EQ(zone->offset_at(change - seconds(1)), library.offset_at(time - 1)) << name;
  }
  EXPECT_GT(compared, 5'000u);
}

TEST_F(TimeZoneTest, times_that_clocks_skip_or_show_twice_are_one_moment) {
  const auto zone = TimeZone::load("Europe/Berlin");
  ASSERT_TRUE(zone) << zone.error().describe();
  const auto clock = [](const char* text) {
    return local_seconds(moment(text).time_since_epoch());
  };
  EXPECT_EQ((*zone)->to_utc(clock("2026-01-15T12:00:00Z")), moment("2026-01-15T11:00:00Z"));
  EXPECT_EQ((*zone)->to_utc(clock("2026-07-15T12:00:00Z")), moment("2026-07-15T10:00:00Z"));
  // 02:30 is not there on 29 March, and is there twice on 25 October.
  EXPECT_EQ((*zone)->to_utc(clock("2026-03-29T02:30:00Z")), moment("2026-03-29T01:00:00Z"));
  EXPECT_EQ((*zone)->to_utc(clock("2026-03-29T03:00:00Z")), moment("2026-03-29T01:00:00Z"));
  EXPECT_EQ((*zone)->to_utc(clock("2026-10-25T02:30:00Z")), moment("2026-10-25T00:30:00Z"));
  EXPECT_EQ((*zone)->to_utc(clock("2026-10-25T03:00:00Z")), moment("2026-10-25T02:00:00Z"));
  // A whole day was skipped.
  const auto samoa = TimeZone::load("Pacific/Apia");
  ASSERT_TRUE(samoa);
  EXPECT_EQ((*samoa)->to_utc(clock("2011-12-30T12:00:00Z")), moment("2011-12-30T10:00:00Z"));
}

TEST_F(TimeZoneTest, local_times_ascend_also_where_clocks_change) {
  for (const char* const name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                 "Africa/Casablanca", "Pacific/Apia", "Europe/Dublin", "UTC"}) {
    const auto zone = TimeZone::load(name);
    ASSERT_TRUE(zone) << zone.error().describe();
    sys_seconds before = sys_seconds::min();
    for (seconds each = moment("2011-12-01T00:00:00Z").time_since_epoch();
         each < moment("2013-01-05T00:00:00Z").time_since_epoch(); each += seconds(3600)) {
      const sys_seconds time = (*zone)->to_utc(local_seconds(each));
      ASSERT_GE(time, before) << name;
      before = time;
    }
  }
}

TEST_F(TimeZoneTest, a_name_is_none_of_a_file_elsewhere) {
  for (const char* const name :
       {"", "../../etc/passwd", "/etc/passwd", "Europe/../Europe/Berlin", "Europe/Berlin ",
        "Europe/Atlantis", "zone.tab", "Europe", "CEST+"}) {
    const auto zone = TimeZone::load(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_THAT(zone.error().describe(), HasSubstr("time zone '" + std::string(name) + "'"));
  }
}

TEST_F(TimeZoneTest, every_beginning_and_every_changed_byte_of_a_file_is_read_safely) {
  const std::string file = content_of("Europe/Berlin");
  const auto use = [](const std::string& content) {
    const auto zone = TimeZone::parse(content);
    if (!zone) return;
    for (const std::int64_t time : {std::int64_t{-99'999'999'999}, std::int64_t{0},
                                    std::int64_t{1'795'000'000}, std::int64_t{999'999'999'999}}) {
      const sys_seconds when{seconds(time)};
      ASSERT_GT(zone->change_after(when), when);
      (void)zone->to_utc(zone->to_local(when));
    }
  };
  for (std::size_t size = 0; size < file.size(); ++size) use(file.substr(0, size));
  Random random(11);
  for (std::size_t place = 0; place < file.size(); ++place) {
    std::string changed = file;
    changed[place] = static_cast<char>(random.below(256));
    use(changed);
  }
}

TEST(ZoneRule, is_read_as_posix_writes_it) {
  for (const char* const text :
       {"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "<+0330>-3:30", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        "IST-1GMT0,M10.5.0,M3.5.0/1", "AAA3BBB,J60/25,364/-167:59:59",
        "EET-2EEST,M3.4.4/50,M10.4.4/50"}) {
    EXPECT_TRUE(ZoneRule::parse(text)) << text;
  }
  for (const char* const text :
       {"", "U0", "UTC", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J365", "CET-1CEST,366,1", "CET-25", "CET-1CEST,M3.5.0/168,M10.5.0", "<+0",
        "CET-1CEST,M3.5.0,M10.5.0 ", "CET-1:60"}) {
    EXPECT_FALSE(ZoneRule::parse(text)) << text;
  }
}

}  // namespace
}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
