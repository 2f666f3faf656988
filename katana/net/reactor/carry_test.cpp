#include "katana/net/reactor/carry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace katana::net {
namespace {

class CarryTest : public testing::Test {
 protected:
  bool pools_are_whole() const {
    return pools.small.available() == pools.small.capacity() &&
           pools.large.available() == pools.large.capacity();
  }
  CarryPools pools{{64, 4}, {256, 2}};
  Carry carry{pools};
};

TEST_F(CarryTest, holds_no_memory_while_it_is_empty) {
  EXPECT_TRUE(carry.empty());
  EXPECT_EQ(carry.bytes(), "");
  EXPECT_TRUE(pools_are_whole());
  ASSERT_TRUE(carry.append("abc"));
  EXPECT_FALSE(pools_are_whole());
  carry.consume(3);
  EXPECT_TRUE(carry.empty());
  EXPECT_TRUE(pools_are_whole());
}

TEST_F(CarryTest, keeps_what_is_not_consumed_in_front_of_what_comes_next) {
  ASSERT_TRUE(carry.append("abcdef"));
  carry.consume(4);
  ASSERT_TRUE(carry.append("gh"));
  EXPECT_EQ(carry.bytes(), "efgh");
}

TEST_F(CarryTest, uses_a_small_block_until_it_is_full_and_then_a_large_one) {
  ASSERT_TRUE(carry.append(std::string(64, 'a')));
  EXPECT_EQ(pools.small.available(), 3u);
  ASSERT_TRUE(carry.append("b"));
  EXPECT_EQ(pools.small.available(), 4u);
  EXPECT_EQ(pools.large.available(), 1u);
  EXPECT_EQ(carry.bytes(), std::string(64, 'a') + "b");
}

TEST_F(CarryTest, makes_room_at_the_front_before_it_takes_a_larger_block) {
  ASSERT_TRUE(carry.append(std::string(60, 'a')));
  carry.consume(50);
  ASSERT_TRUE(carry.append(std::string(54, 'b')));
  EXPECT_EQ(pools.large.available(), 2u);
  EXPECT_EQ(carry.bytes(), std::string(10, 'a') + std::string(54, 'b'));
}

TEST_F(CarryTest, what_does_not_fit_a_large_block_is_refused_and_nothing_is_kept) {
  EXPECT_FALSE(carry.append(std::string(257, 'a')));
  EXPECT_TRUE(carry.empty());
  ASSERT_TRUE(carry.append(std::string(200, 'a')));
  EXPECT_FALSE(carry.append(std::string(57, 'b')));
  EXPECT_EQ(carry.bytes(), std::string(200, 'a'));
  EXPECT_TRUE(carry.append(std::string(56, 'b')));
}

TEST_F(CarryTest, an_exhausted_pool_refuses_and_changes_nothing) {
  Carry first(pools), second(pools);
  ASSERT_TRUE(first.append(std::string(100, 'x')));
  ASSERT_TRUE(second.append(std::string(100, 'y')));
  EXPECT_FALSE(carry.append(std::string(100, 'z')));
  EXPECT_TRUE(carry.empty());
  ASSERT_TRUE(carry.append("small"));
  EXPECT_FALSE(carry.append(std::string(100, 'z')));
  EXPECT_EQ(carry.bytes(), "small");
  first.clear();
  EXPECT_TRUE(carry.append(std::string(100, 'z')));
}

TEST_F(CarryTest, clear_gives_the_block_back) {
  ASSERT_TRUE(carry.append("abc"));
  carry.clear();
  EXPECT_TRUE(carry.empty());
  EXPECT_TRUE(pools_are_whole());
}

TEST_F(CarryTest, destruction_gives_the_block_back) {
  {
    Carry other(pools);
    ASSERT_TRUE(other.append(std::string(100, 'x')));
  }
  EXPECT_TRUE(pools_are_whole());
}

using CarryDeathTest = CarryTest;

TEST_F(CarryDeathTest, consuming_more_than_there_is_is_the_callers_mistake) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ASSERT_TRUE(carry.append("abc"));
  EXPECT_DEATH(carry.consume(4), "REQUIRE failed");
}

TEST_F(CarryTest, behaves_as_a_queue_of_bytes_over_any_history) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    std::string expected;
    for (int step = 0; step < 2000; ++step) {
      if (random() % 2 == 0) {
        const std::string more(1 + random() % 120, static_cast<char>('a' + random() % 26));
        const bool kept = carry.append(more);
        ASSERT_EQ(kept, expected.size() + more.size() <= 256) << "seed " << seed;
        if (kept) expected += more;
      } else {
        const std::size_t count = random() % (expected.size() + 1);
        if (count > 0) carry.consume(count);
        expected.erase(0, count);
      }
      ASSERT_EQ(carry.bytes(), expected) << "seed " << seed;
    }
    carry.clear();
    EXPECT_TRUE(pools_are_whole());
  }
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
