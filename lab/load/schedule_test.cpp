#include "lab/load/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace katana::load {
namespace {

RatePlan constant(Duration duration, double rate) {
  RatePlan plan;
  plan.add(duration, rate, rate);
  return plan;
}

std::vector<std::int64_t> all_due_ns(const RatePlan& plan, Schedule::Part part) {
  Schedule schedule(plan, part);
  std::vector<std::int64_t> due;
  for (; schedule.due() != never; schedule.take()) due.push_back(schedule.due().ns);
  return due;
}

TEST(Schedule, a_constant_rate_is_due_evenly_to_the_nanosecond) {
  const RatePlan plan = constant(seconds(10), 3000);
  const auto due = all_due_ns(plan, {});
  ASSERT_EQ(due.size(), 30'000u);
  for (std::size_t index = 0; index < due.size(); ++index) {
    ASSERT_EQ(due[index], std::llround(static_cast<double>(index) * 1e9 / 3000)) << index;
  }
}

TEST(Schedule, does_not_drift_in_a_day) {
  const RatePlan plan = constant(seconds(86'400), 7);
  const auto due = all_due_ns(plan, {});
  ASSERT_EQ(due.size(), 86'400u * 7);
  EXPECT_EQ(due.back(), std::llround((86'400.0 * 7 - 1) * 1e9 / 7));
}

TEST(Schedule, threads_together_are_as_even_as_one) {
  const RatePlan plan = constant(seconds(1), 1000);
  std::vector<std::int64_t> together;
  for (std::uint32_t index = 0; index < 3; ++index) {
    const auto due = all_due_ns(plan, {.index = index, .of = 3});
    together.insert(together.end(), due.begin(), due.end());
  }
  std::ranges::sort(together);
  EXPECT_EQ(together, all_due_ns(plan, {}));
}

TEST(Schedule, a_burst_is_due_at_one_instant_and_the_rate_stays) {
  const RatePlan plan = constant(seconds(1), 1000);
  const auto due = all_due_ns(plan, {.burst = 100});
  ASSERT_EQ(due.size(), 1000u);
  for (std::size_t index = 0; index < due.size(); ++index) {
    ASSERT_EQ(due[index], static_cast<std::int64_t>(index / 100) * 100'000'000);
  }
}

TEST(Schedule, a_ramp_is_due_where_its_integral_says) {
  RatePlan plan;
  plan.add(seconds(10), 0, 100);  // 500 requests; t = sqrt(2 k / 10)
  plan.add(seconds(5), 100, 100);
  const auto due = all_due_ns(plan, {});
  ASSERT_EQ(due.size(), 1000u);
  for (const std::size_t count : {0u, 1u, 125u, 499u}) {
    const double expected_s = std::sqrt(2 * static_cast<double>(count) / 10);
    EXPECT_NEAR(static_cast<double>(due[count]) / 1e9, expected_s, 1e-8) << count;
  }
  EXPECT_NEAR(static_cast<double>(due[500]) / 1e9, 10, 1e-8);
  EXPECT_NEAR(static_cast<double>(due[999]) / 1e9, 14.99, 1e-8);
  EXPECT_TRUE(std::ranges::is_sorted(due));
}

TEST(Schedule, a_falling_ramp_ends_with_its_last_request) {
  RatePlan plan;
  plan.add(seconds(2), 100, 0);
  const auto due = all_due_ns(plan, {});
  EXPECT_EQ(due.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(due));
  EXPECT_LT(due.back(), 2'000'000'000);
}

TEST(Schedule, poisson_arrivals_have_the_rate_and_the_spread_of_an_exponential) {
  const RatePlan plan = constant(seconds(100), 1000);
  const auto due = all_due_ns(plan, {.poisson = true, .seed = 7});
  ASSERT_NEAR(static_cast<double>(due.size()), 100'000, 4 * std::sqrt(100'000));
  double squares = 0;
  std::size_t above_mean = 0;
  for (std::size_t index = 1; index < due.size(); ++index) {
    const double gap = static_cast<double>(due[index] - due[index - 1]) / 1e6;
    squares += gap * gap;
    above_mean += gap > 1 ? 1 : 0;
  }
  const auto gaps = static_cast<double>(due.size() - 1);
  EXPECT_NEAR(squares / gaps, 2, 0.1);                                      // E X² = 2 / rate²
  EXPECT_NEAR(static_cast<double>(above_mean) / gaps, std::exp(-1), 0.01);  // P(X > mean)
}

TEST(Schedule, the_same_seed_gives_the_same_arrivals_and_another_gives_others) {
  const RatePlan plan = constant(seconds(1), 1000);
  const auto due = all_due_ns(plan, {.poisson = true, .seed = 7});
  EXPECT_EQ(due, all_due_ns(plan, {.poisson = true, .seed = 7}));
  EXPECT_NE(due, all_due_ns(plan, {.poisson = true, .seed = 8}));
}

TEST(Schedule, take_until_counts_what_is_due_before_an_instant) {
  const RatePlan plan = constant(seconds(1), 1000);
  Schedule schedule(plan, {});
  EXPECT_EQ(schedule.take_until({100'000'000}), 100u);
  EXPECT_EQ(schedule.due().ns, 100'000'000);
  EXPECT_EQ(schedule.take_until(never), 900u);
  EXPECT_EQ(schedule.take_until(never), 0u);
}

TEST(RatePlan, count_until_is_its_integral) {
  RatePlan plan;
  plan.add(seconds(10), 0, 100);
  plan.add(seconds(5), 100, 100);
  EXPECT_NEAR(plan.count_until({5'000'000'000}), 125, 1e-6);
  EXPECT_NEAR(plan.count_until({10'000'000'000}), 500, 1e-6);
  EXPECT_NEAR(plan.count_until({20'000'000'000}), 1000, 1e-6);
  EXPECT_EQ(plan.duration().ns, 15'000'000'000);
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
