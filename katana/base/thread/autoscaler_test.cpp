#include "katana/base/thread/autoscaler.hpp"

#include <gtest/gtest.h>

namespace katana::thread {
namespace {

using Step = Autoscaler::Step;

AutoscaleOptions patient() {
  AutoscaleOptions options;
  options.scale_up_intervals = 2;
  options.scale_down_intervals = 3;
  return options;
}

TEST(Autoscaler, adds_a_worker_after_so_many_intervals_above_the_upper_share) {
  Autoscaler scaler(patient());
  EXPECT_EQ(scaler.next(0.81, 1, 1, 4), Step::none);
  EXPECT_EQ(scaler.next(0.81, 1, 1, 4), Step::up);
  EXPECT_EQ(scaler.next(1.0, 2, 1, 4), Step::none);
  EXPECT_EQ(scaler.next(1.0, 2, 1, 4), Step::up);
}

TEST(Autoscaler, removes_a_worker_after_so_many_intervals_below_the_lower_share) {
  Autoscaler scaler(patient());
  EXPECT_EQ(scaler.next(0.19, 3, 1, 4), Step::none);
  EXPECT_EQ(scaler.next(0.0, 3, 1, 4), Step::none);
  EXPECT_EQ(scaler.next(0.1, 3, 1, 4), Step::down);
  EXPECT_EQ(scaler.next(0.1, 2, 1, 4), Step::none);
}

TEST(Autoscaler, a_share_exactly_at_a_threshold_changes_nothing) {
  Autoscaler scaler(AutoscaleOptions{.scale_up_intervals = 1, .scale_down_intervals = 1});
  EXPECT_EQ(scaler.next(0.8, 2, 1, 4), Step::none);
  EXPECT_EQ(scaler.next(0.2, 2, 1, 4), Step::none);
}

TEST(Autoscaler, a_load_that_swings_about_a_threshold_moves_nothing) {
  Autoscaler scaler(patient());
  for (int round = 0; round < 100; ++round) {
    EXPECT_EQ(scaler.next(0.9, 2, 1, 4), Step::none);
    EXPECT_EQ(scaler.next(0.7, 2, 1, 4), Step::none);
    EXPECT_EQ(scaler.next(0.1, 2, 1, 4), Step::none);
    EXPECT_EQ(scaler.next(0.1, 2, 1, 4), Step::none);
  }
}

TEST(Autoscaler, stays_between_its_bounds) {
  Autoscaler scaler(AutoscaleOptions{.scale_up_intervals = 1, .scale_down_intervals = 1});
  EXPECT_EQ(scaler.next(1.0, 4, 1, 4), Step::none);
  EXPECT_EQ(scaler.next(0.0, 1, 1, 4), Step::none);
}

// This holds for every number of workers and every load that causes a step down. With one worker
// less the same load causes no step up.
TEST(Autoscaler, a_step_down_never_causes_a_step_up) {
  const AutoscaleOptions edge{.scale_up_share = 0.8,
                              .scale_down_share = 0.4,
                              .scale_up_intervals = 1,
                              .scale_down_intervals = 1};
  ASSERT_TRUE(Autoscaler::check(edge));
  for (unsigned threads = 2; threads < 64; ++threads) {
    for (double load = 0; load < threads; load += 0.01) {
      Autoscaler scaler(edge);
      if (scaler.next(load / threads, threads, 1, 64) != Step::down) continue;
      EXPECT_NE(scaler.next(load / (threads - 1), threads - 1, 1, 64), Step::up)
          << threads << " workers, load " << load;
    }
  }
}

TEST(Autoscaler, shares_that_could_swing_are_refused_by_name) {
  const auto refused = Autoscaler::check({.scale_up_share = 0.8, .scale_down_share = 0.5});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "autoscale.scale_down_share is 0.5: give a share from 0 to half of scale_up_share");
  EXPECT_FALSE(Autoscaler::check({.scale_up_share = 1.5}));
  EXPECT_FALSE(Autoscaler::check({.interval = microseconds(1)}));
  EXPECT_FALSE(Autoscaler::check({.scale_up_intervals = 0}));
  EXPECT_TRUE(Autoscaler::check({}));
}

}  // namespace
}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
