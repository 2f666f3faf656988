#include "katana/wire/http/range.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::http {
namespace {

std::vector<ByteRange> ranges_of(Bytes value, std::uint64_t size = 1000) {
  const Ranges ranges = Ranges::parse(value, size);
  EXPECT_EQ(ranges.kind() == RangeKind::satisfiable, !ranges.all().empty()) << value;
  return {ranges.all().begin(), ranges.all().end()};
}
RangeKind kind_of(Bytes value, std::uint64_t size = 1000) {
  return Ranges::parse(value, size).kind();
}

using List = std::vector<ByteRange>;

TEST(Ranges, one_range_is_its_first_byte_and_how_many) {
  EXPECT_EQ(ranges_of("bytes=0-0"), (List{{0, 1}}));
  EXPECT_EQ(ranges_of("bytes=0-499"), (List{{0, 500}}));
  EXPECT_EQ(ranges_of("bytes=500-999"), (List{{500, 500}}));
  EXPECT_EQ(ranges_of("bytes=500-"), (List{{500, 500}}));
  EXPECT_EQ(ranges_of("bytes=-500"), (List{{500, 500}}));
  EXPECT_EQ(ranges_of("Bytes=999-"), (List{{999, 1}}));
}

TEST(Ranges, what_goes_beyond_the_end_stops_there) {
  EXPECT_EQ(ranges_of("bytes=900-5000"), (List{{900, 100}}));
  EXPECT_EQ(ranges_of("bytes=-5000"), (List{{0, 1000}}));
  EXPECT_EQ(ranges_of("bytes=1-99999999999999999999999999"), (List{{1, 999}}));
}

TEST(Ranges, several_keep_the_order_of_the_request) {
  EXPECT_EQ(ranges_of("bytes=500-599, 0-99 ,-1"), (List{{500, 100}, {0, 100}, {999, 1}}));
  EXPECT_EQ(ranges_of("bytes=,0-0,,1-1,"), (List{{0, 1}, {1, 1}}));
}

TEST(Ranges, those_that_are_not_there_are_left_out_and_all_of_them_are_unsatisfiable) {
  EXPECT_EQ(ranges_of("bytes=0-0,1000-"), (List{{0, 1}}));
  EXPECT_EQ(kind_of("bytes=1000-"), RangeKind::unsatisfiable);
  EXPECT_EQ(kind_of("bytes=-0"), RangeKind::unsatisfiable);
  EXPECT_EQ(kind_of("bytes=99999999999999999999-"), RangeKind::unsatisfiable);
  EXPECT_EQ(kind_of("bytes=0-", 0), RangeKind::unsatisfiable);
  EXPECT_EQ(kind_of("bytes=-1", 0), RangeKind::none);
}

TEST(Ranges, what_is_malformed_counts_as_no_range) {
  for (const Bytes value :
       {"", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=5-4", "bytes=1",
        "lines=0-1", "bytes 0-1", "bytes=0-1x", "bytes=0 -1", "bytes=--1", "bytes=0-1,x",
        "bytes =0-1", "bytes=+1-2", "bytes=0x0-1", "bytes=5-4,0-1"}) {
    EXPECT_EQ(kind_of(value), RangeKind::none) << value;
  }
}

TEST(Ranges, a_request_for_more_than_the_whole_gets_the_whole) {
  EXPECT_EQ(kind_of("bytes=0-,0-"), RangeKind::none);
  EXPECT_EQ(kind_of("bytes=0-999,999-"), RangeKind::none);
  EXPECT_EQ(kind_of("bytes=0-998,999-"), RangeKind::satisfiable);
  std::string many = "bytes=0-0";
  for (std::size_t count = 1; count < ranges_max; ++count) many += ",1-1";
  EXPECT_EQ(ranges_of(many).size(), ranges_max);
  EXPECT_EQ(kind_of(many + ",2-2"), RangeKind::none);
  EXPECT_EQ(kind_of(many + ",5000-"), RangeKind::none);
  EXPECT_EQ(kind_of("bytes=0-,0-,0-,0-,1-2", std::uint64_t{1} << 62), RangeKind::none);
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
