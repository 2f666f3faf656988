#include "katana/base/memory/recycler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "katana/base/memory/block_pool.hpp"  // whether this is AddressSanitizer's build

namespace katana {
namespace {

// Sizes at both sides of each size class.
const std::vector<std::size_t> edges = {1,    63,    64,    65,    127,  128,  129,
                                        255,  256,   257,   1023,  1024, 1025, 8192,
                                        8193, 16383, 16384, 16385, 65536};

TEST(Recycler, memory_of_every_size_is_aligned_and_writable_to_its_end) {
  for (const std::size_t size : edges) {
    char* const memory = static_cast<char*>(recycler::allocate(size));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignof(std::max_align_t), 0u);
    std::memset(memory, 0x5a, size);
    recycler::release(memory, size);
  }
}

TEST(Recycler, a_piece_released_is_given_out_first_to_the_same_size_class) {
  void* const piece = recycler::allocate(100);
  recycler::release(piece, 100);
  void* const again = recycler::allocate(128);
  EXPECT_EQ(again, piece);
  recycler::release(again, 128);
}

TEST(Recycler, a_piece_is_not_given_out_for_a_larger_size_class) {
  void* const small = recycler::allocate(64);
  recycler::release(small, 64);
  void* const larger = recycler::allocate(65);
  EXPECT_NE(larger, small);
  recycler::release(larger, 65);
}

TEST(Recycler, a_piece_begins_with_a_cache_line) {
  for (const std::size_t size : edges) {
    if (size > recycler::recycled_bytes_max) continue;
    void* const piece = recycler::allocate(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 64, 0u) << size;
    recycler::release(piece, size);
  }
}

TEST(Recycler, releasing_null_does_nothing) {
  recycler::release(nullptr, 0);
  recycler::release(nullptr, 100);
  void* const memory = recycler::allocate(1);
  EXPECT_NE(memory, nullptr);
  recycler::release(memory, 1);
}

TEST(Recycler, pieces_in_use_never_overlap) {
  struct Piece {
    unsigned char* memory;
    std::size_t size;
    unsigned char mark;
  };
  std::mt19937_64 random(7);
  std::vector<Piece> pieces;
  for (int step = 0; step < 20'000; ++step) {
    if (pieces.size() < 400 && random() % 2 == 0) {
      const std::size_t size = 1 + random() % (1u << (4 + random() % 12));
      auto* const memory = static_cast<unsigned char*>(recycler::allocate(size));
      const auto mark = static_cast<unsigned char>(random());
      std::memset(memory, mark, size);
      pieces.push_back({memory, size, mark});
    } else if (!pieces.empty()) {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      const Piece& piece = pieces.back();
      ASSERT_TRUE(std::all_of(piece.memory, piece.memory + piece.size,
                              [&](unsigned char each) { return each == piece.mark; }));
      recycler::release(piece.memory, piece.size);
      pieces.pop_back();
    }
  }
  for (const Piece& piece : pieces) recycler::release(piece.memory, piece.size);
}

TEST(Recycler, a_piece_may_be_released_by_another_thread_and_is_then_kept_there) {
  void* const piece = recycler::allocate(100);
  bool same = false;
  std::thread([&] {
    recycler::release(piece, 100);
    void* const again = recycler::allocate(100);
    same = again == piece;
    recycler::release(again, 100);
  }).join();
  EXPECT_TRUE(same);
}

// LeakSanitizer finds pieces that a thread kept and did not give back at its end.
TEST(Recycler, a_thread_that_ends_gives_back_what_it_kept) {
  struct Late {
    // Destroyed after the recycler's own list, which was made later.
    ~Late() { recycler::release(piece, 100); }
    void* piece = nullptr;
  };
  std::size_t rounds = 0;
  std::thread([&] {
    static thread_local Late late;
    late.piece = recycler::allocate(100);
    for (const std::size_t size : edges) {
      std::vector<void*> pieces;
      for (int count = 0; count < 20; ++count) pieces.push_back(recycler::allocate(size));
      for (void* const piece : pieces) recycler::release(piece, size);
      ++rounds;
    }
  }).join();
  EXPECT_EQ(rounds, edges.size());
}

TEST(Recycler, threads_exchange_pieces_without_sharing_their_lists) {
  std::vector<void*> pieces(1000);
  for (void*& piece : pieces) piece = recycler::allocate(200);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (std::size_t part = 0; part < 4; ++part) {
    threads.emplace_back([&, part] {
      for (std::size_t index = part; index < pieces.size(); index += 4) {
        recycler::release(pieces[index], 200);
        auto* const mine = static_cast<std::size_t*>(recycler::allocate(200));
        *mine = index;
        if (*mine != index) ++failures;
        recycler::release(mine, 200);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(failures, 0);
}

#if defined(KATANA_ADDRESS_SANITIZER)
TEST(RecyclerDeathTest, a_piece_used_after_its_release_is_reported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto* const piece = static_cast<char*>(recycler::allocate(100));
        recycler::release(piece, 100);
        piece[50] = 'x';
      },
      "use-after-poison");
}
#endif

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
