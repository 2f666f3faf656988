#include "katana/data/config/units.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace katana::config {
namespace {

std::string refusal(const auto& result) {
  return result ? "" : std::string(result.error().message());
}

TEST(Units, durations_are_read_in_every_unit) {
  EXPECT_EQ(read_duration("30s"), seconds(30));
  EXPECT_EQ(read_duration("1500ms"), milliseconds(1500));
  EXPECT_EQ(read_duration("250us"), microseconds(250));
  EXPECT_EQ(read_duration("7ns"), nanoseconds(7));
  EXPECT_EQ(read_duration("2m"), seconds(120));
  EXPECT_EQ(read_duration("1h"), seconds(3600));
  EXPECT_EQ(read_duration("1d"), seconds(86400));
  EXPECT_EQ(read_duration(" 3 s "), seconds(3));
  EXPECT_EQ(read_duration("0"), Duration{});
}

TEST(Units, byte_counts_are_read_in_every_unit) {
  EXPECT_EQ(read_byte_count("16KiB"), kibibytes(16));
  EXPECT_EQ(read_byte_count("10MB"), ByteCount{10'000'000});
  EXPECT_EQ(read_byte_count("3kB"), ByteCount{3000});
  EXPECT_EQ(read_byte_count("2 GiB"), gibibytes(2));
  EXPECT_EQ(read_byte_count("1TB"), ByteCount{1'000'000'000'000});
  EXPECT_EQ(read_byte_count("4096"), ByteCount{4096});
  EXPECT_EQ(read_byte_count("18446744073709551615"), ByteCount{UINT64_MAX});
}

TEST(Units, a_fraction_is_read_exactly_or_not_at_all) {
  EXPECT_EQ(read_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(read_duration("0.000000001s"), nanoseconds(1));
  EXPECT_EQ(read_byte_count("1.5KiB"), ByteCount{1536});
  EXPECT_FALSE(read_duration("0.5ns"));
  EXPECT_FALSE(read_byte_count("0.1KiB"));
  EXPECT_FALSE(read_duration("1.s"));
}

TEST(Units, what_is_too_much_is_refused) {
  EXPECT_EQ(read_duration("9223372036854775807ns"), Duration{INT64_MAX});
  EXPECT_FALSE(read_duration("9223372036854775808ns"));
  EXPECT_FALSE(read_duration("106752d"));
  EXPECT_FALSE(read_byte_count("18446744073709551616"));
  EXPECT_FALSE(read_byte_count("99999999999999999999999999TiB"));
  EXPECT_FALSE(read_duration("0.00000000000000000000000000000001s"));
}

TEST(Units, messages_name_the_text_and_the_remedy) {
  EXPECT_EQ(refusal(read_duration("30")),
            "a duration with its unit (ns, us, ms, s, m, h or d), got '30'");
  EXPECT_EQ(refusal(read_duration("30sec")), "a duration in ns, us, ms, s, m, h or d, got '30sec'");
  EXPECT_EQ(refusal(read_duration("30MS")), "a duration, got '30MS': did you mean ms?");
  EXPECT_EQ(refusal(read_duration("-1s")), "a duration without a sign, got '-1s'");
  EXPECT_EQ(refusal(read_byte_count("16KB")),
            "an amount of memory, got '16KB': write kB for 1000 or KiB for 1024");
  EXPECT_EQ(refusal(read_byte_count("16kib")),
            "an amount of memory, got '16kib': did you mean KiB?");
  EXPECT_EQ(
      refusal(read_byte_count("lots")),
      "an amount of memory (a number and B, kB, KiB, MB, MiB, GB, GiB, TB or TiB), got 'lots'");
  EXPECT_FALSE(read_duration(""));
  EXPECT_FALSE(read_byte_count(""));
}

TEST(Units, are_written_in_the_largest_unit_that_is_whole) {
  EXPECT_EQ(write_duration(milliseconds(1500)), "1500ms");
  EXPECT_EQ(write_duration(seconds(7200)), "2h");
  EXPECT_EQ(write_duration(Duration{}), "0s");
  EXPECT_EQ(write_duration({INT64_MIN}), "-9223372036854775808ns");
  EXPECT_EQ(write_byte_count(kibibytes(16)), "16KiB");
  EXPECT_EQ(write_byte_count({10'000'000}), "10MB");
  EXPECT_EQ(write_byte_count({1023}), "1023B");
}

TEST(Units, what_is_written_is_read_as_the_same_value) {
  std::mt19937_64 random(4711);
  for (int count = 0; count < 20'000; ++count) {
    const std::uint64_t value = random() >> (random() % 64);
    const Duration duration{static_cast<std::int64_t>(value >> 1)};
    ASSERT_EQ(read_duration(write_duration(duration)), duration) << duration.ns;
    ASSERT_EQ(read_byte_count(write_byte_count({value})), ByteCount{value}) << value;
  }
}

TEST(Units, random_text_is_refused_or_means_what_it_is_written_as) {
  std::mt19937_64 random(4712);
  constexpr std::string_view letters = "0123456789.. sumhdnBkKMGTi-";
  for (int count = 0; count < 50'000; ++count) {
    std::string text;
    for (std::size_t size = random() % 9; size > 0; --size)
      text += letters[random() % letters.size()];
    if (const auto read = read_duration(text)) {
      ASSERT_EQ(read_duration(write_duration(*read)), *read) << text;
    }
    if (const auto read = read_byte_count(text)) {
      ASSERT_EQ(read_byte_count(write_byte_count(*read)), *read) << text;
    }
  }
}

}  // namespace
}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
