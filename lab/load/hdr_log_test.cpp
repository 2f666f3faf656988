#include "lab/load/hdr_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace katana::load {
namespace {

// A reading of the V2 encoding that shares nothing with its writing. The end-to-end tests read the
// whole log with the public Python package.
std::vector<std::uint64_t> decode(const std::string& octets) {
  constexpr std::size_t head_bytes = 40;
  std::vector<std::uint64_t> counts;
  std::size_t at = head_bytes;
  while (at < octets.size()) {
    std::uint64_t bits = 0;
    for (int index = 0;; ++index) {
      const auto octet = static_cast<std::uint64_t>(static_cast<unsigned char>(octets[at++]));
      if (index == 8) {
        bits |= octet << 56;
        break;
      }
      bits |= (octet & 0x7f) << (7 * index);
      if (octet < 0x80) break;
    }
    const std::int64_t value =
        static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
    if (value >= 0) {
      counts.push_back(static_cast<std::uint64_t>(value));
    } else {
      counts.insert(counts.end(), static_cast<std::size_t>(-value), 0);
    }
  }
  return counts;
}

TEST(HdrLog, v2_has_the_header_that_readers_expect) {
  Histogram histogram;
  histogram.record(1);
  const std::string octets = encode_v2(histogram);
  const unsigned char head[] = {0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3};
  EXPECT_EQ(octets.substr(0, 16), std::string(reinterpret_cast<const char*>(head), sizeof head));
  EXPECT_EQ(octets.size(), 42u);
  EXPECT_EQ(octets[40], 0);  // one zero, for the value 0 …
  EXPECT_EQ(octets[41], 2);  // … and one value of 1
}

TEST(HdrLog, counts_survive_the_encoding_whatever_their_size) {
  Histogram histogram;
  std::int64_t value = 1;
  for (std::uint64_t times = 1; times < std::uint64_t{1} << 62; times = times * 3 + 1) {
    histogram.record_many(value, times);
    value = value * 2 + 7;
  }
  const auto counts = decode(encode_v2(histogram));
  const auto expected = histogram.counts();
  ASSERT_EQ(counts.size(), expected.size());
  EXPECT_TRUE(std::ranges::equal(counts, expected));
}

TEST(HdrLog, an_empty_histogram_has_no_counts) { EXPECT_EQ(encode_v2(Histogram()).size(), 40u); }

TEST(HdrLog, has_a_line_for_each_interval_below_its_header) {
  const auto path = std::filesystem::path(testing::TempDir()) / "katana-load-test.hlog";
  auto log = HdrLog::create(path.string());
  ASSERT_TRUE(log);
  Histogram histogram;
  histogram.record(2'500'000);
  log->write_header(1000.5, "a test");
  log->write_interval(0, 1, histogram);
  log->write_interval(1, 0.5, Histogram());
  ASSERT_TRUE(log->close());
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0], "#a test");
  EXPECT_EQ(lines[2], "#[Histogram log format version 1.3]");
  EXPECT_EQ(lines[4], "#[BaseTime: 1000.500 (seconds since epoch)]");
  EXPECT_TRUE(lines[6].starts_with("0.000,1.000,2.500,HISTFAAAA")) << lines[6];
  EXPECT_TRUE(lines[7].starts_with("1.000,0.500,0.000,HISTFAAAA")) << lines[7];
  std::filesystem::remove(path);
}

TEST(HdrLog, a_file_that_cannot_be_made_is_named) {
  const auto log = HdrLog::create("/no/such/folder/log");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().describe(), "--hdr /no/such/folder/log: No such file or directory");
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
