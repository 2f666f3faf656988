#include "lab/load/connection_ramp.hpp"

#include <gtest/gtest.h>

namespace katana::load {
namespace {

Instant after(Duration duration) { return Instant{} + duration; }

TEST(ConnectionRamp, climbs_from_one_holds_and_falls_in_straight_lines) {
  ConnectionRamp ramp;
  ramp.add(seconds(10), 101);
  ramp.add(seconds(5), 101);
  ramp.add(seconds(10), 1);
  EXPECT_EQ(ramp.duration(), seconds(25));
  EXPECT_EQ(ramp.most(), 101u);
  EXPECT_EQ(ramp.at(after(seconds(0))), 1u);
  EXPECT_EQ(ramp.at(after(seconds(5))), 51u);
  EXPECT_EQ(ramp.at(after(seconds(10))), 101u);
  EXPECT_EQ(ramp.at(after(seconds(14))), 101u);
  EXPECT_EQ(ramp.at(after(seconds(20))), 51u);
}

TEST(ConnectionRamp, before_it_the_first_count_holds_and_after_it_the_last) {
  ConnectionRamp ramp;
  ramp.add(seconds(1), 10);
  ramp.add(seconds(1), 4);
  EXPECT_EQ(ramp.at(after(seconds(-3))), 1u);
  EXPECT_EQ(ramp.at(after(seconds(2))), 4u);
  EXPECT_EQ(ramp.at(after(seconds(100))), 4u);
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
