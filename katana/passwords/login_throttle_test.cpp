#include "katana/passwords/login_throttle.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::passwords {
namespace {

constexpr Instant at(std::int64_t count_s) { return Instant{} + seconds(count_s + 100'000); }

TEST(Throttle, of_an_account_doubles_its_wait_up_to_the_longest) {
  LoginThrottle throttle;
  std::int64_t now_s = 0;
  for (int count = 0; count < 5; ++count) {
    EXPECT_EQ(throttle.begin("ann", std::to_string(count), at(now_s)), Duration{});
  }
  for (const std::int64_t wait_s : {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    EXPECT_EQ(throttle.begin("ann", "other", at(now_s)), seconds(wait_s));
    EXPECT_EQ(throttle.begin("ann", "other", at(now_s)), seconds(wait_s));  // and counts as none
    now_s += wait_s;
    EXPECT_EQ(throttle.begin("ann", std::to_string(now_s), at(now_s)), Duration{}) << wait_s;
  }
  EXPECT_EQ(throttle.begin("bob", "other", at(now_s)), Duration{});
  EXPECT_EQ(throttle.begin("ann", "other", at(now_s + 3601)), Duration{});
}

TEST(Throttle, of_an_address_counts_over_all_accounts) {
  LoginThrottle throttle;
  for (int count = 0; count < 20; ++count) {
    EXPECT_EQ(throttle.begin("user " + std::to_string(count), "192.0.2.1", at(0)), Duration{});
  }
  EXPECT_EQ(throttle.begin("somebody", "192.0.2.1", at(0)), seconds(1));
  EXPECT_EQ(throttle.begin("somebody", "192.0.2.2", at(0)), Duration{});
}

TEST(Throttle, begins_anew_for_the_account_that_succeeds_and_not_for_its_address) {
  LoginThrottle throttle;
  for (int count = 0; count < 4; ++count) throttle.begin("ann", "192.0.2.1", at(0));
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(0)), Duration{});
  throttle.succeeded("ann", "192.0.2.1");
  for (int count = 0; count < 5; ++count) {
    EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(0)), Duration{});
  }
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(0)), seconds(1));
  for (int count = 0; count < 11; ++count) {
    EXPECT_EQ(throttle.begin(std::to_string(count), "192.0.2.1", at(0)), Duration{}) << count;
  }
  EXPECT_EQ(throttle.begin("x", "192.0.2.1", at(0)), seconds(1));
}

TEST(Throttle, forgets_what_has_not_failed_for_the_longest_when_it_is_full) {
  LoginThrottle throttle({.account_free_failures = 1, .accounts_max = 2});
  throttle.begin("a", "1", at(0));
  throttle.begin("b", "2", at(1));
  throttle.begin("c", "4", at(1));
  EXPECT_EQ(throttle.begin("a", "5", at(1)), Duration{});
  EXPECT_EQ(throttle.begin("c", "6", at(1)), seconds(1));
}

}  // namespace
}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
