#include "katana/stores/database/call.hpp"

#include <gtest/gtest.h>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/net/reactor/clock_fixture_test.hpp"

namespace katana::database {
namespace {

using detail::within_deadline;

TEST(CallTimeout, is_cut_to_the_time_that_its_caller_has_left) {
  net::Clock clock;
  const DeadlineScope time(clock.now() + milliseconds(50));
  EXPECT_EQ(within_deadline(seconds(5), seconds(10)), milliseconds(50));
  EXPECT_EQ(within_deadline(milliseconds(20), seconds(10)), milliseconds(20));
  EXPECT_EQ(within_deadline({}, seconds(10)), milliseconds(50));
  EXPECT_EQ(within_deadline({}, milliseconds(20)), milliseconds(20));
  clock.turn(milliseconds(60));
  EXPECT_EQ(within_deadline(seconds(5), seconds(10)), nanoseconds(1));  // late, not without limit
}

TEST(CallTimeout, without_a_deadline_or_a_reactor_stays_as_it_is) {
  EXPECT_EQ(within_deadline(seconds(5), seconds(10)), seconds(5));
  EXPECT_EQ(within_deadline({}, seconds(10)), Duration{});
  const DeadlineScope time(Instant{1});
  EXPECT_EQ(within_deadline(seconds(5), seconds(10)), seconds(5));
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
