#include "katana/observe/metrics/cells.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <latch>
#include <thread>
#include <vector>

namespace katana::metrics::cells {
namespace {

class CellsTest : public testing::Test {
 protected:
  Range take_one() {
    auto range = take(1);
    EXPECT_TRUE(range);
    taken_.push_back(*range);
    return *range;
  }
  ~CellsTest() override {
    for (const Range& range : taken_) give(range);
  }
  std::vector<Range> taken_;
};

TEST_F(CellsTest, what_threads_add_is_summed_while_they_live_and_after_they_ended) {
  const Range cell = take_one();
  constexpr int threads = 4, additions = 10'000;
  std::latch added(threads), looked(1);
  std::vector<std::thread> all;
  for (int number = 0; number < threads; ++number) {
    all.emplace_back([&] {
      for (int count = 0; count < additions; ++count) add(cell, 1);
      added.count_down();
      looked.wait();
      add(cell, 5);
    });
  }
  added.wait();
  EXPECT_EQ(Reading().sum(cell), std::uint64_t{threads} * additions);
  looked.count_down();
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(Reading().sum(cell), std::uint64_t{threads} * (additions + 5));
}

TEST_F(CellsTest, a_thread_that_ended_leaves_no_thread_behind_and_its_cells_are_used_again) {
  const Range cell = take_one();
  add(cell, 1);
  const std::size_t before = threads();
  const std::uint64_t* first_cells = nullptr;
  for (int round = 0; round < 50; ++round) {
    std::thread([&] {
      add(cell, 1);
      EXPECT_EQ(threads(), before + 1);
      if (first_cells == nullptr) first_cells = here();
      EXPECT_EQ(here(), first_cells);
      EXPECT_EQ(here()[cell.first], 1u);  // begins at zero, also after an earlier owner
    }).join();
    EXPECT_EQ(threads(), before);
  }
  EXPECT_EQ(Reading().sum(cell), 51u);
}

TEST_F(CellsTest, a_sum_never_goes_backwards_while_threads_come_and_go) {
  const Range cell = take_one();
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> added = 0;
  std::thread coming_and_going([&] {
    for (int round = 0; round < 300; ++round) {
      std::thread([&] {
        for (int count = 0; count < 100; ++count) add(cell, 1);
        added.fetch_add(100, std::memory_order_release);
      }).join();
    }
    stop = true;
  });
  std::uint64_t last = 0;
  while (!stop) {
    const std::uint64_t least = added.load(std::memory_order_acquire);
    const std::uint64_t sum = Reading().sum(cell);
    ASSERT_GE(sum, last);
    ASSERT_GE(sum, least);  // and misses nothing that happened before
    last = sum;
  }
  coming_and_going.join();
  EXPECT_EQ(Reading().sum(cell), 30'000u);
}

TEST_F(CellsTest, what_is_added_while_a_thread_is_being_destroyed_counts) {
  const Range cell = take_one();
  struct Late {
    const Range* cell = nullptr;
    ~Late() {
      if (cell != nullptr) add(*cell, 7);
    }
  };
  std::thread([&] {
    static thread_local Late late;  // made before this thread's cells, so destroyed after them
    late.cell = &cell;
    add(cell, 1);
  }).join();
  EXPECT_EQ(Reading().sum(cell), 8u);
}

TEST_F(CellsTest, doubles_are_added_as_doubles_across_threads) {
  auto range = take(3, First::holds_double);
  ASSERT_TRUE(range);
  taken_.push_back(*range);
  for (int round = 0; round < 4; ++round) {
    std::thread([&] {
      detail::add(here()[range->first], 0.25);
      detail::add(here()[range->first + 2], std::uint64_t{2});
    }).join();
  }
  detail::add(here()[range->first], 1.0);
  const Reading reading;
  EXPECT_EQ(reading.sum_double(*range), 2.0);
  EXPECT_EQ(reading.sum(*range, 2), 8u);
}

TEST(Cells, that_were_given_back_begin_at_zero_for_the_next_taker) {
  const std::size_t before = taken();
  for (int round = 0; round < 3; ++round) {
    auto range = take(7, First::holds_double);
    ASSERT_TRUE(range);
    EXPECT_EQ(taken(), before + 7);
    for (std::size_t index = 0; index < 7; ++index) EXPECT_EQ(Reading().sum(*range, index), 0u);
    for (std::uint32_t index = 0; index < 7; ++index) {
      detail::add(here()[range->first + index], std::uint64_t{index + 1});
    }
    std::thread([&] { add(*range, 3); }).join();
    give(*range);
  }
  EXPECT_EQ(taken(), before);
}

TEST(Cells, run_out_with_an_error_that_says_what_to_do) {
  constexpr std::size_t half = cells_max / 2;
  auto first = take(half);
  ASSERT_TRUE(first);
  const auto second = take(half);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::resource_exhausted);
  EXPECT_NE(second.error().describe().find("fewer series"), std::string::npos);
  give(*first);
  auto part = take(10), rest = take(half - 10);  // a free range is divided
  ASSERT_TRUE(part && rest);
  EXPECT_EQ(part->first, first->first);
  EXPECT_EQ(rest->first, first->first + 10);
  give(*part);
  give(*rest);
}

TEST(Cells, of_nobody_are_never_seen) {
  add(Range(), 5);
  EXPECT_EQ(Reading().sum(Range()), 0u);
  std::thread([] { add(Range(), 5); }).join();
  EXPECT_EQ(Reading().sum(Range()), 0u);
}

}  // namespace
}  // namespace katana::metrics::cells

// SPDX-License-Identifier: Apache-2.0
