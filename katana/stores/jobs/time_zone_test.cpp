#include "katana/stores/jobs/time_zone.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
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
        "Europe/Atlantis", "zone.tab", "Europe", "CEST+", "/Europe/Berlin"}) {
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
  for (std::size_t size = 0; size < file.size(); ++size) {
    use(file.substr(0, size));
    EXPECT_FALSE(TimeZone::parse(file.substr(0, size))) << "the first " << size << " bytes";
  }
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
        "EET-2EEST,M3.4.4/50,M10.4.4/50", "CET-1CEST,J1,J365", "AAA+5"}) {
    EXPECT_TRUE(ZoneRule::parse(text)) << text;
  }
  for (const char* const text :
       {"", "U0", "UTC", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J365", "CET-1CEST,366,1", "CET-25", "CET-1CEST,M3.5.0/168,M10.5.0", "<+0",
        "CET-1CEST,M3.5.0,M10.5.0 ", "CET-1:60", "AAA-+5", "CET-1CEST25,M3.5.0,M10.5.0"}) {
    EXPECT_FALSE(ZoneRule::parse(text)) << text;
  }
}

TEST(ZoneRule, a_name_without_angle_brackets_has_letters_only) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    EXPECT_EQ(ZoneRule::parse(std::string("AB") + c + "0").has_value(), is_letter) << byte;
  }
}

TEST(TimeZoneName, has_the_characters_that_names_of_zones_have) {
  const std::string taken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+/";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const auto zone = TimeZone::load(std::string("No") + c + "such");
    ASSERT_FALSE(zone) << byte;
    const bool is_looked_up = zone.error().code() == Code::not_found;
    EXPECT_EQ(is_looked_up, taken.find(c) != std::string::npos) << byte;
  }
  EXPECT_EQ(TimeZone::load("/Nosuch").error().code(), Code::invalid_argument);
  EXPECT_EQ(TimeZone::load(std::string(64, 'n')).error().code(), Code::not_found);
  EXPECT_EQ(TimeZone::load(std::string(65, 'n')).error().code(), Code::invalid_argument);
}

TEST(YearlyChange, its_day_is_counted_as_posix_counts_it) {
  using Kind = YearlyChange::Kind;
  const auto day_of = [](Kind kind, int day, int year) {
    return YearlyChange{.kind = kind, .day = day, .at_s = 0}.in_year(year);
  };
  // Jn never counts 29 February, n counts it.
  EXPECT_EQ(day_of(Kind::julian, 1, 2028), moment("2028-01-01T00:00:00Z"));
  EXPECT_EQ(day_of(Kind::julian, 59, 2028), moment("2028-02-28T00:00:00Z"));
  EXPECT_EQ(day_of(Kind::julian, 60, 2028), moment("2028-03-01T00:00:00Z"));
  EXPECT_EQ(day_of(Kind::julian, 60, 2027), moment("2027-03-01T00:00:00Z"));
  EXPECT_EQ(day_of(Kind::julian, 365, 2028), moment("2028-12-31T00:00:00Z"));
  EXPECT_EQ(day_of(Kind::day_of_year, 0, 2028), moment("2028-01-01T00:00:00Z"));
  EXPECT_EQ(day_of(Kind::day_of_year, 59, 2028), moment("2028-02-29T00:00:00Z"));
  EXPECT_EQ(day_of(Kind::day_of_year, 365, 2028), moment("2028-12-31T00:00:00Z"));
  const auto weekday_of = [](int month, int week, int day, int year) {
    return YearlyChange{
        .kind = Kind::weekday_of_month, .day = day, .week = week, .month = month, .at_s = 3600}
        .in_year(year);
  };
  EXPECT_EQ(weekday_of(3, 5, 0, 2026), moment("2026-03-29T01:00:00Z"));
  EXPECT_EQ(weekday_of(3, 2, 0, 2026), moment("2026-03-08T01:00:00Z"));
  EXPECT_EQ(weekday_of(2, 4, 6, 2026), moment("2026-02-28T01:00:00Z"));
}

// The parts of a file, which a test changes.
struct ZoneFile {
  struct Change {
    std::int64_t at;
    unsigned type;
  };
  std::string text(bool with_64_bits) const {
    std::string text = with_64_bits ? block('2', 4) + block('2', 8) : block('\0', 4);
    if (with_64_bits) text += "\n" + footer + "\n";
    return text;
  }
  std::string block(char version, int time_bytes) const {
    std::string text = "TZif";
    text += version;
    text.append(15, '\0');
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{0}, leaps, changes.size(), offsets_s.size(), name.size()}) {
      text += number(static_cast<std::int64_t>(count), 4);
    }
    for (const Change& change : changes) text += number(change.at, time_bytes);
    for (const Change& change : changes) text += static_cast<char>(change.type);
    for (const std::int64_t offset_s : offsets_s) {
      text += number(offset_s, 4) + std::string(2, '\0');
    }
    text += name;
    return text + std::string(leaps * (static_cast<std::size_t>(time_bytes) + 4), '\0');
  }
  static std::string number(std::int64_t value, int bytes) {
    std::string text;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      text += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
    }
    return text;
  }

  std::vector<std::int64_t> offsets_s = {3600, 7200, -1800};
  std::vector<Change> changes = {{1'000, 1}, {2'000, 2}};
  std::string name = std::string("ABC\0", 4);
  std::string footer = "<-0030>0:30";
  std::size_t leaps = 0;
};

sys_seconds second(std::int64_t value) { return sys_seconds(seconds(value)); }

TEST(ZoneFile, each_offset_holds_from_its_transition_on) {
  for (const bool with_64_bits : {false, true}) {
    const auto zone = TimeZone::parse(ZoneFile().text(with_64_bits));
    ASSERT_TRUE(zone) << zone.error().describe();
    for (const auto& [at, offset_s] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {-1'000, 3600}, {999, 3600}, {1'000, 7200}, {1'999, 7200}, {2'000, -1800}}) {
      EXPECT_EQ(zone->offset_at(second(at)), seconds(offset_s)) << at;
    }
    EXPECT_EQ(zone->offset_at(second(9'999'999'999)), seconds(-1800));
    EXPECT_EQ(zone->change_after(second(999)), second(1'000));
    EXPECT_EQ(zone->change_after(second(1'000)), second(2'000));
    EXPECT_EQ(zone->change_after(second(2'000)), sys_seconds::max());
  }
}

TEST(ZoneFile, a_zone_without_a_rule_keeps_its_last_offset) {
  ZoneFile file;
  file.footer = "";
  const auto zone = TimeZone::parse(file.text(true));
  ASSERT_TRUE(zone) << zone.error().describe();
  EXPECT_EQ(zone->offset_at(second(9'999'999'999)), seconds(-1800));
  EXPECT_EQ(zone->change_after(second(2'000)), sys_seconds::max());
}

TEST(ZoneFile, its_rule_holds_after_the_last_transition) {
  ZoneFile file;
  file.footer = "CET-1CEST,M3.5.0,M10.5.0/3";
  const auto zone = TimeZone::parse(file.text(true));
  ASSERT_TRUE(zone) << zone.error().describe();
  EXPECT_EQ(zone->change_after(moment("2050-01-01T00:00:00Z")), moment("2050-03-27T01:00:00Z"));
  EXPECT_EQ(zone->change_after(moment("2050-03-27T01:00:00Z")), moment("2050-10-30T01:00:00Z"));
  EXPECT_EQ(zone->change_after(moment("2050-12-31T23:00:00Z")), moment("2051-03-26T01:00:00Z"));
  EXPECT_EQ(zone->offset_at(moment("2050-03-27T00:59:59Z")), seconds(3600));
  EXPECT_EQ(zone->offset_at(moment("2050-03-27T01:00:00Z")), seconds(7200));
  EXPECT_EQ(zone->change_after(second(253'402'300'800)), sys_seconds::max()) << "the year 10000";
}

// RFC 9636 §3.3.1 allows times from -167 to 167 hours.
TEST(ZoneFile, changes_of_a_rule_may_be_a_week_outside_of_their_year) {
  ZoneFile file;
  file.footer = "AAA0BBB,J1/-167,J1/-160";  // both are on 25 December of the year before
  auto zone = TimeZone::parse(file.text(true));
  ASSERT_TRUE(zone) << zone.error().describe();
  EXPECT_EQ(zone->change_after(moment("2050-12-31T00:00:00Z")), moment("2051-12-25T01:00:00Z"));
  // Daylight-saving time begins on 7 January of the next year, and ends on 2 January.
  file.footer = "AAA0BBB,J365/167,J360/167";
  zone = TimeZone::parse(file.text(true));
  ASSERT_TRUE(zone) << zone.error().describe();
  EXPECT_EQ(zone->offset_at(moment("2050-01-01T00:00:00Z")), seconds(3600));
  EXPECT_EQ(zone->offset_at(moment("2050-01-03T00:00:00Z")), seconds(0));
}

TEST(ZoneFile, two_transitions_at_one_moment_are_the_later_one) {
  ZoneFile file;
  file.changes = {{1'000, 1}, {1'000, 2}};
  const auto zone = TimeZone::parse(file.text(false));
  ASSERT_TRUE(zone) << zone.error().describe();
  EXPECT_EQ(zone->offset_at(second(1'000)), seconds(-1800));
}

TEST(ZoneFile, a_part_that_cannot_be_is_refused_with_its_reason) {
  const auto refusal = [](auto change) {
    for (const bool with_64_bits : {true, false}) {
      ZoneFile file;
      change(file);
      const auto zone = TimeZone::parse(file.text(with_64_bits));
      if (zone) return std::string();
      if (!with_64_bits) return std::string(zone.error().message());
    }
    return std::string();
  };
  EXPECT_THAT(refusal([](ZoneFile& file) { file.leaps = 1; }), HasSubstr("leap seconds"));
  EXPECT_THAT(refusal([](ZoneFile& file) { file.offsets_s = {}; }), HasSubstr("no types"));
  EXPECT_THAT(refusal([](ZoneFile& file) { file.offsets_s.resize(257); }), HasSubstr("no types"));
  EXPECT_EQ(refusal([](ZoneFile& file) { file.offsets_s.resize(256); }), "");
  for (const std::int64_t most : {26 * 3600, -26 * 3600}) {
    EXPECT_EQ(refusal([&](ZoneFile& file) { file.offsets_s[0] = most; }), "");
    const std::int64_t more = most > 0 ? most + 1 : most - 1;
    EXPECT_THAT(refusal([&](ZoneFile& file) { file.offsets_s[0] = more; }), HasSubstr("an offset"));
  }
  EXPECT_THAT(refusal([](ZoneFile& file) { file.changes[1].at = 999; }), HasSubstr("its order"));
  EXPECT_THAT(refusal([](ZoneFile& file) { file.changes[1].type = 3; }),
              HasSubstr("the type of a transition"));
  EXPECT_THAT(refusal([](ZoneFile& file) { file.name.resize(TimeZone::file_bytes_max + 1); }),
              HasSubstr("it is too large"));
}

TEST(ZoneFile, one_that_ends_within_a_part_is_refused) {
  for (const bool with_64_bits : {false, true}) {
    const std::string file = ZoneFile().text(with_64_bits);
    for (std::size_t size = 0; size < file.size(); ++size) {
      EXPECT_FALSE(TimeZone::parse(file.substr(0, size))) << "the first " << size << " bytes";
    }
  }
  std::string file = ZoneFile().text(true);
  file[file.rfind("TZif")] = 'X';
  EXPECT_FALSE(TimeZone::parse(file)) << "the second header";
}

TEST(ZoneFile, a_malformed_one_is_an_error_with_the_name_of_the_zone) {
  const std::filesystem::path place =
      std::filesystem::path(::testing::TempDir()) / fmt::format("katana_zones_{}", ::getpid());
  std::filesystem::create_directories(place);
  std::ofstream(place / "Torn", std::ios::binary) << ZoneFile().text(true).substr(0, 60);
  ::setenv("TZDIR", place.c_str(), 1);
  const auto zone = TimeZone::load("Torn");
  ::unsetenv("TZDIR");
  std::filesystem::remove_all(place);
  ASSERT_FALSE(zone);
  EXPECT_THAT(zone.error().describe(), HasSubstr("time zone 'Torn': it is no TZif file"));
}

}  // namespace
}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
