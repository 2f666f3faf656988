#include "katana/identity/passwords/login_throttle.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "katana/identity/passwords/known_device.hpp"

namespace katana::passwords {
namespace {

constexpr Instant at(std::int64_t count_s) { return Instant{} + seconds(count_s + 100'000); }

TEST(Throttle, of_an_account_and_a_network_doubles_its_wait_up_to_the_longest) {
  LoginThrottle throttle;
  std::int64_t now_s = 0;
  for (int count = 0; count < 5; ++count) {
    EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(now_s)), Duration{});
  }
  for (const std::int64_t wait_s : {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(now_s)), seconds(wait_s));
    EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(now_s)), seconds(wait_s)) << "and counts not";
    now_s += wait_s;
    EXPECT_EQ(throttle.begin("ann", "192.0.2.1:5000", at(now_s)), Duration{}) << wait_s;
  }
  EXPECT_EQ(throttle.begin("bob", "192.0.2.1", at(now_s)), Duration{});
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(now_s + 3601)), Duration{});
}

TEST(Throttle, of_a_network_counts_over_all_accounts) {
  LoginThrottle throttle;
  for (int count = 0; count < 20; ++count) {
    EXPECT_EQ(throttle.begin("user " + std::to_string(count), "192.0.2.1", at(0)), Duration{});
  }
  EXPECT_EQ(throttle.begin("somebody", "192.0.2.1", at(0)), seconds(1));
  EXPECT_EQ(throttle.begin("somebody", "::ffff:192.0.2.1", at(0)), seconds(1));
  EXPECT_EQ(throttle.begin("somebody", "192.0.2.2", at(0)), Duration{});
}

TEST(Throttle, of_a_busy_network_forgets_as_fast_as_its_users_mistype) {
  LoginThrottle throttle;
  for (int minute = 0; minute < 24 * 60; minute += 4) {
    const std::string user = "user " + std::to_string(minute);
    ASSERT_EQ(throttle.begin(user, "192.0.2.1", at(minute * 60)), Duration{}) << minute;
  }
}

// One subscriber of IPv6 has all addresses of a /64, and often of a /56 or a /48.
TEST(Throttle, of_ipv6_counts_networks_and_not_addresses) {
  const auto tries_of = [](const std::function<std::string(int)>& address_of, int tries) {
    LoginThrottle throttle;
    int went_on = 0;
    for (int count = 0; count < tries; ++count) {
      const std::string user = "user " + std::to_string(count);
      went_on += throttle.begin(user, address_of(count), at(0)) == Duration{} ? 1 : 0;
    }
    return went_on;
  };
  EXPECT_EQ(tries_of([](int count) { return fmt::format("2001:db8:1:1::{:x}", count); }, 60), 20);
  EXPECT_EQ(tries_of([](int count) { return fmt::format("2001:db8:1:{:x}::1", count); }, 200), 80);
  EXPECT_EQ(
      tries_of([](int count) { return fmt::format("2001:db8:1:{:x}00::1", count % 256); }, 1000),
      320);
  EXPECT_EQ(tries_of([](int count) { return fmt::format("2001:db8:{:x}::1", count); }, 1000), 1000);
  EXPECT_EQ(tries_of([](int count) { return fmt::format("10.{}.1.1", count % 256); }, 200), 200);
}

// A stranger attacks an account from one address for ten hours.
TEST(Throttle, lets_the_owner_in_whatever_a_stranger_tries) {
  LoginThrottle throttle;
  int guesses = 0;
  for (int now_s = 0; now_s < 36'000; ++now_s) {
    guesses += throttle.begin("ann", "198.51.100.1", at(now_s)) == Duration{} ? 1 : 0;
    if (now_s % 600 != 599) continue;
    const std::string elsewhere = "203.0.113." + std::to_string(now_s / 600);
    ASSERT_EQ(throttle.begin("ann", elsewhere, at(now_s)), Duration{}) << now_s;
    throttle.succeeded("ann", elsewhere);
  }
  EXPECT_LE(guesses, 5 + 8 + 36'000 / 300);
}

TEST(Throttle, slows_a_crowd_at_one_account_and_not_the_clients_that_it_knows) {
  LoginThrottle throttle;
  const auto devices = KnownDevices::make();
  const std::string device = devices->find(devices->token("ann"), "ann");
  ASSERT_EQ(throttle.begin("ann", "203.0.113.9", at(0)), Duration{});
  throttle.succeeded("ann", "203.0.113.9");
  int guesses = 0;
  for (int now_s = 1; now_s <= 36'000; ++now_s) {  // each second from a new network
    const std::string network = fmt::format("10.{}.{}.1", now_s / 250, now_s % 250);
    guesses += throttle.begin("ann", network, at(now_s)) == Duration{} ? 1 : 0;
  }
  EXPECT_LE(guesses, 100 + 36'000 / 300);
  EXPECT_GE(guesses, 100);
  const Duration wait = throttle.begin("ann", "192.0.2.7", at(36'000));
  EXPECT_GT(wait, Duration{});
  EXPECT_LE(wait, seconds(300));
  EXPECT_EQ(throttle.begin("ann", "203.0.113.9", at(36'000)), Duration{}) << "a known network";
  EXPECT_EQ(throttle.begin("ann", "192.0.2.7", at(36'000), device), Duration{}) << "a device";
  EXPECT_EQ(throttle.begin("bob", "192.0.2.7", at(36'000)), Duration{});
}

TEST(Throttle, of_a_known_device_has_a_count_of_its_own) {
  LoginThrottle throttle;
  const std::string device = "a device";
  for (int count = 0; count < 60; ++count) throttle.begin("ann", "192.0.2.1", at(count));
  EXPECT_GT(throttle.begin("ann", "192.0.2.1", at(60)), Duration{}) << "the same network";
  for (int count = 0; count < 5; ++count) {
    EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(60), device), Duration{});
  }
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(60), device), seconds(1));
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(60), "another"), Duration{});
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(61), device), Duration{});
  throttle.succeeded("ann", "192.0.2.1", device);
  for (int count = 0; count < 5; ++count) {
    EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(61), device), Duration{});
  }
}

TEST(Throttle, begins_anew_for_the_account_that_succeeds_and_not_for_its_network) {
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

TEST(Throttle, a_login_elsewhere_gives_nobody_else_new_guesses) {
  LoginThrottle throttle;
  for (int count = 0; count < 5; ++count) throttle.begin("ann", "198.51.100.1", at(0));
  EXPECT_EQ(throttle.begin("ann", "203.0.113.9", at(0)), Duration{});
  throttle.succeeded("ann", "203.0.113.9");
  EXPECT_EQ(throttle.begin("ann", "198.51.100.1", at(0)), seconds(1));
}

TEST(Throttle, forgets_what_has_not_failed_for_the_longest_when_it_is_full) {
  LoginThrottle throttle({.account_free_failures = 1, .accounts_max = 2});
  throttle.begin("a", "1", at(0));
  throttle.begin("b", "2", at(1));
  throttle.begin("c", "4", at(1));
  EXPECT_EQ(throttle.begin("c", "4", at(1)), seconds(1));
  EXPECT_EQ(throttle.begin("a", "1", at(1)), Duration{});
}

}  // namespace
}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
