#include "katana/observe/metrics/buckets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace katana::metrics {
namespace {

TEST(Bounds, a_value_on_a_bound_belongs_to_it_and_one_above_to_the_next) {
  for (const std::size_t count : {1u, 2u, 7u, 8u, 9u, 16u, 17u, 100u, 512u}) {
    auto bounds = Bounds::make(linear_bounds(0, 1, count));
    ASSERT_TRUE(bounds);
    EXPECT_EQ(bounds->bucket_count(), count + 1);
    for (std::size_t index = 0; index < count; ++index) {
      const auto bound = static_cast<double>(index);
      EXPECT_EQ(bounds->find(bound), index);
      EXPECT_EQ(bounds->find(std::nextafter(bound, INFINITY)), index + 1);
    }
    EXPECT_EQ(bounds->find(1e300), count);
    EXPECT_EQ(bounds->find(INFINITY), count);
  }
}

TEST(Bounds, that_are_wrong_are_refused_with_the_culprit) {
  const auto refusal = [](std::vector<double> bounds) {
    auto made = Bounds::make(std::move(bounds));
    return made ? "accepted" : made.error().describe();
  };
  EXPECT_NE(refusal({}).find("0 bucket bounds"), std::string::npos);
  EXPECT_NE(refusal(linear_bounds(0, 1, 513)).find("513"), std::string::npos);
  EXPECT_NE(refusal({1, 2, 2}).find("bound 2 follows 2"), std::string::npos);
  EXPECT_NE(refusal({3, 1}).find("bound 1 follows 3"), std::string::npos);
  EXPECT_NE(refusal({-1, 1}).find("bound -1"), std::string::npos);
  EXPECT_NE(refusal({1, INFINITY}).find("bound inf"), std::string::npos);
  EXPECT_NE(refusal({NAN}).find("bound nan"), std::string::npos);
}

TEST(Bounds, are_made_in_steps_and_in_factors) {
  EXPECT_EQ(linear_bounds(1, 2, 3), (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(exponential_bounds(1, 2, 4), (std::vector<double>{1, 2, 4, 8}));
}

TEST(LogBuckets, every_value_lies_between_the_ends_of_its_bucket_and_buckets_are_adjacent) {
  for (unsigned bits = 0; bits <= LogBuckets::precision_bits_max; ++bits) {
    const LogBuckets buckets(bits, std::uint64_t{1} << 40);
    EXPECT_EQ(buckets.lower(0), 0u);
    for (std::size_t index = 0; index + 1 < buckets.bucket_count(); ++index) {
      const std::uint64_t lower = buckets.lower(index), upper = buckets.upper(index);
      ASSERT_LE(lower, upper);
      ASSERT_EQ(buckets.find(lower), index);
      ASSERT_EQ(buckets.find(upper), index);
      ASSERT_LE(static_cast<double>(upper - lower),
                static_cast<double>(lower) / static_cast<double>(1u << bits));
      ASSERT_EQ(buckets.find(upper + 1), index + 1);
    }
  }
}

TEST(LogBuckets, values_beyond_the_largest_are_counted_in_the_last_bucket) {
  const LogBuckets buckets(5, 60'000'000'000);
  const std::size_t last = buckets.bucket_count() - 1;
  EXPECT_EQ(buckets.find(60'000'000'000), last - 1);
  EXPECT_EQ(buckets.find(120'000'000'000), last);
  EXPECT_EQ(buckets.find(std::numeric_limits<std::uint64_t>::max()), last);
}

TEST(LogBuckets, cover_all_numbers_when_asked_to) {
  const LogBuckets buckets(3, std::numeric_limits<std::uint64_t>::max());
  const std::size_t last_real = buckets.bucket_count() - 2;
  EXPECT_EQ(buckets.find(std::numeric_limits<std::uint64_t>::max()), last_real);
  EXPECT_EQ(buckets.upper(last_real), std::numeric_limits<std::uint64_t>::max());
}

TEST(LogBuckets, octave_ends_rise_by_powers_of_two_up_to_the_last_bucket) {
  const LogBuckets buckets(4, 100'000);
  const std::vector<std::size_t> ends = buckets.octave_ends();
  for (std::size_t index = 0; index + 1 < ends.size(); ++index) {
    EXPECT_EQ(buckets.upper(ends[index]) + 1, std::uint64_t{16} << index);
  }
  EXPECT_EQ(ends.back(), buckets.bucket_count() - 2);
  EXPECT_GE(buckets.upper(ends.back()), 100'000u);
}

}  // namespace
}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
