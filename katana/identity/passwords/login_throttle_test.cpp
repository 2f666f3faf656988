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
  throttle.begin("b", "2", at(0));
  EXPECT_EQ(throttle.begin("a", "1", at(0)), seconds(1));
  throttle.begin("c", "4", at(0));
  EXPECT_EQ(throttle.begin("b", "2", at(0)), seconds(1));
  EXPECT_EQ(throttle.begin("c", "4", at(0)), seconds(1));
  EXPECT_EQ(throttle.begin("a", "1", at(0)), Duration{});
}

// Counts the attempts that go on at one time, each from another network or account.
int went_on(LoginThrottle& throttle, Bytes account, Bytes network, int tries, Instant now) {
  int count = 0;
  for (int each = 0; each < tries; ++each) {
    const std::string name = account.empty() ? fmt::format("user {}", each) : std::string(account);
    const std::string from =
        network.empty() ? fmt::format("10.0.{}.1", each) : std::string(network);
    count += throttle.begin(name, from, now) == Duration{} ? 1 : 0;
  }
  return count;
}

TEST(Throttle, of_a_pair_begins_anew_when_forget_after_has_passed_and_not_before) {
  for (const bool is_over : {false, true}) {
    LoginThrottle throttle({.account_free_failures = 3, .forget_after = seconds(10)});
    EXPECT_EQ(went_on(throttle, "ann", "192.0.2.1", 5, at(0)), 3);
    const Instant now = at(10) - nanoseconds(is_over ? 0 : 1);
    EXPECT_EQ(went_on(throttle, "ann", "192.0.2.1", 5, now), is_over ? 3 : 1);
  }
}

TEST(Throttle, of_a_network_begins_anew_when_forget_after_has_passed) {
  LoginThrottle throttle({.address_free_failures = 2, .forget_after = seconds(100)});
  EXPECT_EQ(went_on(throttle, {}, "192.0.2.1", 5, at(0)), 2);
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(1)), Duration{});
  EXPECT_EQ(throttle.begin("bob", "192.0.2.1", at(3)), Duration{});
  EXPECT_EQ(went_on(throttle, {}, "192.0.2.1", 5, at(103)), 2);
}

TEST(Throttle, of_an_account_counts_over_all_networks_and_leaks_one_failure_in_wait_max) {
  LoginThrottle throttle({.account_free_failures_everywhere = 3, .wait_max = seconds(60)});
  EXPECT_EQ(went_on(throttle, "ann", {}, 3, at(0)), 3);
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(0)), seconds(60) + nanoseconds(1));
  EXPECT_EQ(throttle.begin("bob", "192.0.2.1", at(0)), Duration{});
}

TEST(Throttle, of_an_account_counts_the_free_failures_of_a_network_and_no_further_ones) {
  LoginThrottle throttle({.account_free_failures = 2, .account_free_failures_everywhere = 3});
  EXPECT_EQ(went_on(throttle, "ann", "192.0.2.1", 3, at(0)), 2);
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(1)), Duration{});
  EXPECT_EQ(went_on(throttle, "ann", {}, 5, at(1)), 1);
}

TEST(Throttle, a_success_whose_network_was_evicted_makes_it_known) {
  LoginThrottle throttle({.account_free_failures_everywhere = 1, .addresses_max = 1});
  ASSERT_EQ(throttle.begin("ann", "2001:db8::1", at(0)), Duration{});
  throttle.succeeded("ann", "2001:db8::1");
  ASSERT_EQ(throttle.begin("ann", "192.0.2.2", at(0)), Duration{});
  EXPECT_EQ(throttle.begin("ann", "2001:db8::1", at(0)), Duration{});
}

TEST(Throttle, of_an_account_counts_no_failure_of_a_device_or_of_a_known_network) {
  LoginThrottle throttle({.account_free_failures_everywhere = 2});
  ASSERT_EQ(throttle.begin("ann", "192.0.2.1", at(0)), Duration{});
  throttle.succeeded("ann", "192.0.2.1");
  EXPECT_EQ(went_on(throttle, "ann", "192.0.2.1", 4, at(0)), 4);
  for (int count = 0; count < 4; ++count) {
    EXPECT_EQ(throttle.begin("ann", "192.0.2.2", at(0), "a device"), Duration{});
  }
  EXPECT_EQ(went_on(throttle, "ann", {}, 5, at(0)), 2);
}

TEST(Throttle, of_a_network_counts_no_failure_of_a_device_and_its_success_frees_nothing) {
  LoginThrottle throttle({.address_free_failures = 2});
  for (int count = 0; count < 4; ++count) {
    EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(0), "a device"), Duration{});
  }
  EXPECT_EQ(went_on(throttle, {}, "192.0.2.1", 5, at(0)), 2);
  throttle.succeeded("ann", "192.0.2.1", "a device");
  EXPECT_EQ(went_on(throttle, {}, "192.0.2.1", 5, at(0)), 0);
}

TEST(Throttle, a_success_takes_its_attempt_off_the_account) {
  LoginThrottle throttle({.account_free_failures_everywhere = 2});
  ASSERT_EQ(throttle.begin("ann", "192.0.2.1", at(0)), Duration{});
  throttle.succeeded("ann", "192.0.2.1");
  EXPECT_EQ(went_on(throttle, "ann", {}, 5, at(0)), 2);
}

TEST(Throttle, a_success_whose_attempt_was_evicted_makes_no_network_known) {
  LoginThrottle throttle({.account_free_failures_everywhere = 1});
  throttle.succeeded("ann", "192.0.2.1");
  EXPECT_EQ(throttle.begin("ann", "192.0.2.2", at(0)), Duration{});
  EXPECT_GT(throttle.begin("ann", "192.0.2.1", at(0)), Duration{});
}

TEST(Throttle, knows_a_network_for_known_for_and_no_longer) {
  LoginThrottle throttle({.account_free_failures_everywhere = 1, .known_for = seconds(10)});
  ASSERT_EQ(throttle.begin("ann", "192.0.2.1", at(0)), Duration{});
  throttle.succeeded("ann", "192.0.2.1");
  ASSERT_EQ(throttle.begin("ann", "192.0.2.2", at(0)), Duration{});
  EXPECT_EQ(throttle.begin("ann", "192.0.2.1", at(10) - nanoseconds(1)), Duration{});
  EXPECT_GT(throttle.begin("ann", "192.0.2.1", at(10)), Duration{});
}

// An address of IPv6 takes three places: its networks of three sizes.
TEST(Throttle, of_an_ipv4_address_or_a_unix_socket_takes_one_place_among_the_networks) {
  for (const Bytes address : {"192.0.2.1", "unix:2001:db8::1"}) {
    LoginThrottle throttle({.address_free_failures = 1, .addresses_max = 2});
    EXPECT_EQ(throttle.begin("ann", address, at(0)), Duration{});
    EXPECT_EQ(throttle.begin("bob", "192.0.2.2", at(0)), Duration{});
    EXPECT_GT(throttle.begin("cid", "192.0.2.2", at(0)), Duration{});
    EXPECT_GT(throttle.begin("cid", address, at(0)), Duration{}) << address;
  }
}

}  // namespace
}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
