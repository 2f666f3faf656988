#include "lab/load/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace katana::load {
namespace {

// The nearest rank of the recorded values.
std::int64_t exact_percentile(std::vector<std::int64_t> values, double percent) {
  std::ranges::sort(values);
  const auto rank = std::ceil(percent / 100 * static_cast<double>(values.size()) - 1e-9);
  return values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

std::vector<std::int64_t> skewed_values(std::size_t count) {
  std::mt19937_64 random(4711);
  std::lognormal_distribution<double> distribution(11, 2);
  std::vector<std::int64_t> values;
  for (std::size_t index = 0; index < count; ++index) {
    values.push_back(static_cast<std::int64_t>(distribution(random)));
  }
  return values;
}

TEST(Histogram, every_value_lies_in_its_bucket_and_buckets_join) {
  std::int64_t expected_lowest = 0;
  for (std::size_t index = 0; index < Histogram::counts_size; ++index) {
    const std::int64_t lowest = Histogram::lowest_of(index);
    const std::int64_t highest = Histogram::highest_of(index);
    ASSERT_EQ(lowest, expected_lowest);
    ASSERT_EQ(Histogram::index_of(lowest), index);
    ASSERT_EQ(Histogram::index_of(highest), index);
    ASSERT_LE(static_cast<double>(highest - lowest), 0.001 * static_cast<double>(lowest) + 0.001);
    expected_lowest = highest + 1;
  }
  EXPECT_GT(expected_lowest, Histogram::value_max_ns);
}

TEST(Histogram, percentiles_are_those_of_the_values_to_three_digits) {
  const auto values = skewed_values(20'000);
  Histogram histogram;
  for (const std::int64_t value : values) histogram.record(value);
  for (const double percent : {0.0, 1.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const std::int64_t exact = exact_percentile(values, percent);
    const std::int64_t got = histogram.percentile_ns(percent);
    EXPECT_GE(got, exact) << percent;
    EXPECT_LE(static_cast<double>(got), static_cast<double>(exact) * 1.001 + 1) << percent;
  }
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.max_ns(), std::ranges::max(values));
  EXPECT_EQ(histogram.percentile_ns(100), std::ranges::max(values));
}

TEST(Histogram, mean_is_exact_and_deviation_to_three_digits) {
  const auto values = skewed_values(5'000);
  Histogram histogram;
  double sum = 0;
  for (const std::int64_t value : values) {
    histogram.record(value);
    sum += static_cast<double>(value);
  }
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const std::int64_t value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  EXPECT_NEAR(histogram.mean_ns(), mean, mean * 1e-9);
  EXPECT_NEAR(histogram.deviation_ns(), deviation, deviation * 1e-3);
}

TEST(Histogram, parts_add_up_to_what_one_would_have_counted) {
  const auto values = skewed_values(3'000);
  Histogram parts[2];
  Histogram whole;
  for (std::size_t index = 0; index < values.size(); ++index) {
    parts[index % 2].record(values[index]);
    whole.record(values[index]);
  }
  parts[0].add(parts[1]);
  EXPECT_TRUE(std::ranges::equal(parts[0].counts(), whole.counts()));
  EXPECT_EQ(parts[0].max_ns(), whole.max_ns());
  EXPECT_NEAR(parts[0].mean_ns(), whole.mean_ns(), whole.mean_ns() * 1e-12);
}

TEST(Histogram, a_rank_that_is_a_whole_number_is_not_rounded_up) {
  Histogram histogram;
  for (std::int64_t value = 1; value <= 1000; ++value) histogram.record(value);
  EXPECT_EQ(histogram.percentile_ns(99.9), 999);
  EXPECT_EQ(histogram.percentile_ns(99), 990);
  EXPECT_EQ(histogram.percentile_ns(50), 500);
  EXPECT_EQ(histogram.percentile_ns(99.91), 1000);
}

TEST(Histogram, without_values_everything_is_0) {
  Histogram histogram;
  histogram.record(5);
  histogram.reset();
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.percentile_ns(99), 0);
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.mean_ns(), 0);
  EXPECT_EQ(histogram.deviation_ns(), 0);
  EXPECT_TRUE(histogram.counts().empty());
}

TEST(Histogram, values_beyond_its_range_count_at_its_ends) {
  Histogram histogram;
  histogram.record(-1);
  histogram.record(INT64_MAX);
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.max_ns(), Histogram::value_max_ns);
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
