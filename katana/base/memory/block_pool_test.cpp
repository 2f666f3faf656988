#include "katana/base/memory/block_pool.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace katana {
namespace {

void give_all(BlockPool& pool, std::vector<char*>& blocks) {
  for (char* const block : blocks) pool.give(block);
  blocks.clear();
}

// Pages of [begin, begin + bytes) that have memory.
std::size_t resident_pages(const char* begin, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> states((bytes + page - 1) / page);
  EXPECT_EQ(mincore(const_cast<char*>(begin), bytes, states.data()), 0);
  std::size_t count = 0;
  for (const unsigned char state : states) count += state & 1u;
  return count;
}

TEST(BlockPool, gives_out_its_capacity_and_then_null) {
  BlockPool pool(64, 3);
  std::vector<char*> blocks;
  for (int count = 0; count < 3; ++count) blocks.push_back(pool.take());
  EXPECT_EQ(std::set<char*>(blocks.begin(), blocks.end()).size(), 3u);
  EXPECT_FALSE(std::set<char*>(blocks.begin(), blocks.end()).contains(nullptr));
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_EQ(pool.available(), 0u);
  give_all(pool, blocks);
  EXPECT_EQ(pool.available(), 3u);
}

TEST(BlockPool, is_usable_again_after_it_was_exhausted) {
  BlockPool pool(64, 1);
  char* const block = pool.take();
  ASSERT_EQ(pool.take(), nullptr);
  pool.give(block);
  EXPECT_EQ(pool.take(), block);
  pool.give(block);
}

TEST(BlockPool, a_block_given_back_is_taken_first) {
  BlockPool pool(64, 8);
  char* const first = pool.take();
  char* const second = pool.take();
  pool.give(first);
  pool.give(second);
  EXPECT_EQ(pool.take(), second);
  EXPECT_EQ(pool.take(), first);
  pool.give(first);
  pool.give(second);
}

TEST(BlockPool, a_block_size_is_rounded_up_so_that_blocks_are_aligned_for_any_type) {
  BlockPool pool(17, 4);
  EXPECT_EQ(pool.block_bytes(), 32u);
  std::vector<char*> blocks;
  for (int count = 0; count < 4; ++count) {
    blocks.push_back(pool.take());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % alignof(std::max_align_t), 0u);
  }
  give_all(pool, blocks);
}

TEST(BlockPool, blocks_do_not_overlap) {
  BlockPool pool(48, 100);
  std::vector<char*> blocks;
  for (int index = 0; index < 100; ++index) {
    blocks.push_back(pool.take());
    std::memset(blocks.back(), index, pool.block_bytes());
  }
  for (int index = 0; index < 100; ++index) {
    const char* const block = blocks[static_cast<std::size_t>(index)];
    for (std::size_t at = 0; at < pool.block_bytes(); ++at) ASSERT_EQ(block[at], index);
  }
  give_all(pool, blocks);
}

TEST(BlockPool, available_and_what_is_out_are_the_capacity_after_any_history) {
  std::mt19937_64 random(20260101);
  BlockPool pool(64, 50);
  std::vector<char*> out;
  for (int step = 0; step < 10'000; ++step) {
    if (random() % 2 == 0) {
      char* const block = pool.take();
      ASSERT_EQ(block == nullptr, out.size() == 50);
      if (block != nullptr) out.push_back(block);
    } else if (!out.empty()) {
      std::swap(out[random() % out.size()], out.back());
      pool.give(out.back());
      out.pop_back();
    }
    ASSERT_EQ(pool.available() + out.size(), pool.capacity());
  }
  give_all(pool, out);
}

TEST(BlockPool, costs_memory_only_for_blocks_that_were_used) {
  constexpr std::size_t page = 4096;
  ASSERT_EQ(sysconf(_SC_PAGESIZE), 4096);
  // A reservation of 256 MiB, far more than the pages that will be touched.
  BlockPool pool(page, 64 * 1024);
  char* const block = pool.take();  // the first block stands at the front of the reservation
  EXPECT_EQ(resident_pages(block, page * pool.capacity()), 0u);
  block[0] = 'x';
  EXPECT_EQ(resident_pages(block, page * pool.capacity()), 1u);
  pool.give(block);
  // A block that comes and goes a thousand times is one block.
  for (int count = 0; count < 1000; ++count) pool.give(pool.take());
  EXPECT_EQ(resident_pages(block, page * pool.capacity()), 1u);
}

TEST(BlockPoolDeathTest, a_block_that_is_not_given_back_is_reported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        BlockPool pool(64, 2);
        pool.take();
      },
      "CHECK failed: available\\(\\) == capacity_");
}

TEST(BlockPoolDeathTest, a_size_that_cannot_hold_the_list_of_free_blocks_is_the_callers_mistake) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(BlockPool(4, 2), "REQUIRE failed");
  EXPECT_DEATH(BlockPool(64, 0), "REQUIRE failed");
}

#if defined(KATANA_ADDRESS_SANITIZER)
TEST(BlockPoolDeathTest, a_block_used_after_it_was_given_back_is_reported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        BlockPool pool(64, 2);
        char* const block = pool.take();
        pool.give(block);
        block[20] = 'x';
      },
      "use-after-poison");
}
#endif

TEST(BlockPool, more_address_space_than_there_is_throws) {
  EXPECT_THROW(BlockPool(std::size_t{1} << 40, std::size_t{1} << 20), std::bad_alloc);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
