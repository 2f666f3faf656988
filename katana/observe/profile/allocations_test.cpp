#include "katana/observe/profile/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/base/coroutine/activity.hpp"

namespace katana::profile {
namespace {

using allocations::detail::on_allocation;
using allocations::detail::on_free;

// The hooks do not read the memory: any address will do.
void* address_of(std::uintptr_t number) { return reinterpret_cast<void*>(number * 64); }

void begin(Kind kind, std::size_t interval_bytes) {
  const auto begun = allocations::begin({.kind = kind, .interval_bytes = interval_bytes});
  ASSERT_TRUE(begun) << begun.error().describe();
}

TEST(Allocations, a_sample_stands_for_the_bytes_between_two_samples) {
  begin(Kind::allocations, 64 * 1024);
  constexpr std::int64_t count = 400'000, bytes = 100;
  for (std::int64_t each = 0; each < count; ++each) on_allocation(address_of(1), bytes, nullptr);
  const Profile profile = allocations::end();
  EXPECT_EQ(profile.kind, Kind::allocations);
  EXPECT_EQ(profile.period_ns, 64 * 1024);
  EXPECT_EQ(profile.lost, 0u);
  // 610 samples are expected: an error of a third is eight deviations.
  EXPECT_NEAR(static_cast<double>(profile.total_ns()), count * bytes, count * bytes / 3.0);
  EXPECT_NEAR(static_cast<double>(profile.samples()), count, count / 3.0);
}

TEST(Allocations, a_large_allocation_is_always_found_and_counts_once) {
  begin(Kind::allocations, 1024);
  on_allocation(address_of(1), std::size_t{1} << 30, nullptr);
  const Profile profile = allocations::end();
  EXPECT_EQ(profile.samples(), 1);
  EXPECT_EQ(profile.total_ns(), std::int64_t{1} << 30);
}

TEST(Allocations, growth_has_only_what_is_not_freed) {
  begin(Kind::growth, 1024);
  for (std::uintptr_t each = 1; each <= 10; ++each) {
    on_allocation(address_of(each), std::size_t{1} << 20, nullptr);
  }
  std::thread other([] {  // a thread may free what another has allocated
    for (std::uintptr_t each = 1; each <= 7; ++each) on_free(address_of(each));
  });
  other.join();
  on_free(address_of(99));  // was not sampled
  const Profile profile = allocations::end();
  EXPECT_EQ(profile.samples(), 3);
  EXPECT_EQ(profile.total_ns(), std::int64_t{3} << 20);
  for (const Found& each : profile.found) EXPECT_GT(each.count, 0);
}

TEST(Allocations, growth_that_is_freed_whole_leaves_no_stack) {
  begin(Kind::growth, 1024);
  on_allocation(address_of(1), std::size_t{1} << 20, nullptr);
  on_free(address_of(1));
  EXPECT_TRUE(allocations::end().found.empty());
}

TEST(Allocations, has_the_route_and_the_request) {
  static const std::string site = "GET /grow";
  Activity activity;
  activity.site = &site;
  activity.name = "request-1";
  const Activity* const before = std::exchange(current_activity, &activity);
  begin(Kind::allocations, 1024);
  on_allocation(address_of(1), std::size_t{1} << 20, nullptr);
  const Profile profile = allocations::end();
  current_activity = before;
  ASSERT_EQ(profile.found.size(), 1u);
  EXPECT_EQ(profile.found[0].labels.route, site);
  EXPECT_EQ(profile.found[0].labels.request, "request-1");
  EXPECT_GT(profile.found[0].places.size(), 1u);
}

[[gnu::noinline]] void allocate_here(const void*& caller) {
  caller = __builtin_return_address(0);
  on_allocation(address_of(1), std::size_t{1} << 20, caller);
}

TEST(Allocations, the_stack_begins_at_the_caller_of_the_operator) {
  begin(Kind::allocations, 1024);
  const void* caller = nullptr;
  allocate_here(caller);
  const Profile profile = allocations::end();
  ASSERT_EQ(profile.found.size(), 1u);
  const std::size_t innermost = profile.found[0].places.front();
  EXPECT_EQ(profile.places[innermost].address, reinterpret_cast<std::uintptr_t>(caller) - 1);
}

TEST(Allocations, is_one_at_a_time) {
  begin(Kind::allocations, 1024);
  const auto second = allocations::begin({});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::already_exists);
  (void)allocations::end();
  begin(Kind::allocations, 1024);
  EXPECT_TRUE(allocations::end().found.empty());
}

TEST(Allocations, without_a_profile_nothing_is_watched) {
  EXPECT_FALSE(allocations::detail::watches_allocations());
  EXPECT_FALSE(allocations::detail::watches_frees());
  begin(Kind::allocations, 1024);
  EXPECT_TRUE(allocations::detail::watches_allocations());
  EXPECT_FALSE(allocations::detail::watches_frees());
  (void)allocations::end();
  begin(Kind::growth, 1024);
  EXPECT_TRUE(allocations::detail::watches_frees());
  (void)allocations::end();
  EXPECT_FALSE(allocations::detail::watches_allocations());
  EXPECT_FALSE(allocations::detail::watches_frees());
}

TEST(Allocations, more_than_can_be_watched_is_counted_as_lost) {
  begin(Kind::growth, 1);
  for (std::uintptr_t each = 1; each <= allocations::watched_max + 10; ++each) {
    on_allocation(address_of(each), 4096, nullptr);
  }
  const Profile profile = allocations::end();
  EXPECT_EQ(profile.samples(), static_cast<std::int64_t>(allocations::watched_max));
  EXPECT_EQ(profile.lost, 10u);
}

TEST(Allocations, threads_that_allocate_and_free_at_once_are_counted_right) {
  begin(Kind::growth, 4096);
  constexpr std::uintptr_t each_count = 20'000;
  std::vector<std::thread> threads;
  for (std::uintptr_t number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      for (std::uintptr_t each = 1; each <= each_count; ++each) {
        void* const memory = address_of(number * each_count + each);
        on_allocation(memory, 1000, nullptr);
        on_free(memory);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  const Profile profile = allocations::end();
  EXPECT_EQ(profile.samples(), 0);
  EXPECT_TRUE(profile.found.empty());
}

}  // namespace
}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
