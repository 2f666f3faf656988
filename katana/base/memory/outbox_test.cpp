#include "katana/base/memory/outbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "katana/base/system/file_fixture_test.hpp"

namespace katana {
namespace {

constexpr std::size_t block_bytes = 256;

std::string gathered(const Outbox& outbox) {
  std::array<iovec, 1024> parts;
  std::string text;
  const std::size_t count = outbox.gather(parts);
  for (std::size_t index = 0; index < count; ++index) {
    text.append(static_cast<const char*>(parts[index].iov_base), parts[index].iov_len);
  }
  return text;
}

std::size_t segments(const Outbox& outbox) {
  std::array<iovec, 1024> parts;
  return outbox.gather(parts);
}

bool put(Outbox& outbox, std::string_view text) {
  char* const place = outbox.reserve(text.size());
  if (place == nullptr) return false;
  std::memcpy(place, text.data(), text.size());
  outbox.commit(text.size());
  return true;
}

class OutboxTest : public testing::Test {
 protected:
  BlockPool pool{block_bytes, 8};
  Outbox outbox{pool};
};

TEST_F(OutboxTest, an_empty_outbox_has_nothing_and_holds_no_block) {
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.pending(), 0u);
  EXPECT_EQ(segments(outbox), 0u);
  EXPECT_EQ(pool.available(), pool.capacity());
}

TEST_F(OutboxTest, what_is_written_comes_out_in_order_whatever_way_it_went_in) {
  ASSERT_TRUE(outbox.write("one "));
  ASSERT_TRUE(put(outbox, "two "));
  ASSERT_TRUE(outbox.refer("three "));
  ASSERT_TRUE(outbox.write("four"));
  EXPECT_EQ(gathered(outbox), "one two three four");
  EXPECT_EQ(outbox.pending(), 18u);
}

TEST_F(OutboxTest, neighbouring_bytes_of_a_block_are_one_segment) {
  ASSERT_TRUE(outbox.write("a"));
  ASSERT_TRUE(put(outbox, "b"));
  ASSERT_TRUE(outbox.write("c"));
  EXPECT_EQ(segments(outbox), 1u);
}

TEST_F(OutboxTest, referred_bytes_are_sent_from_where_they_are) {
  const std::string text = "stays";
  ASSERT_TRUE(outbox.refer(text));
  std::array<iovec, 2> parts;
  ASSERT_EQ(outbox.gather(parts), 1u);
  EXPECT_EQ(parts[0].iov_base, text.data());
}

TEST_F(OutboxTest, empty_pieces_change_nothing) {
  EXPECT_TRUE(outbox.write(""));
  EXPECT_TRUE(outbox.refer(""));
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(pool.available(), pool.capacity());
}

TEST_F(OutboxTest, a_reserve_that_is_not_committed_promises_nothing) {
  ASSERT_NE(outbox.reserve(10), nullptr);
  outbox.commit(0);
  EXPECT_TRUE(outbox.empty());
  ASSERT_TRUE(outbox.write("after"));
  EXPECT_EQ(gathered(outbox), "after");
}

TEST_F(OutboxTest, committing_nothing_in_a_full_block_leaves_its_bytes_alone) {
  const std::string text(outbox.reserve_bytes_max(), 'x');
  ASSERT_TRUE(outbox.write(text));
  ASSERT_NE(outbox.reserve(0), nullptr);
  outbox.commit(0);
  EXPECT_EQ(gathered(outbox), text);
  EXPECT_EQ(segments(outbox), 1u);
}

TEST_F(OutboxTest, reserve_gives_up_to_its_maximum_and_no_more) {
  EXPECT_EQ(outbox.reserve(outbox.reserve_bytes_max() + 1), nullptr);
  EXPECT_EQ(pool.available(), pool.capacity());
  EXPECT_NE(outbox.reserve(outbox.reserve_bytes_max()), nullptr);
}

TEST_F(OutboxTest, what_is_first_is_written_in_one_step_and_passed_in_one) {
  int calls = 0;
  const auto fill = [&](char* to) noexcept {
    ++calls;
    std::memcpy(to, "first", 5);
    return to + 5;
  };
  ASSERT_TRUE(outbox.write_first(100, fill));
  EXPECT_EQ(outbox.pending(), 5u);
  EXPECT_EQ(gathered(outbox), "first");
  EXPECT_FALSE(outbox.write_first(100, fill));  // it would not be the first
  ASSERT_TRUE(outbox.write(" second"));
  EXPECT_EQ(gathered(outbox), "first second");
  EXPECT_EQ(segments(outbox), 1u);
  iovec only;
  ASSERT_TRUE(outbox.gather_only(only));
  EXPECT_EQ(only.iov_len, 12u);
  outbox.advance_only();
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(pool.available(), pool.capacity());
  EXPECT_FALSE(outbox.write_first(outbox.reserve_bytes_max() + 1, fill));
  ASSERT_TRUE(outbox.write_first(outbox.reserve_bytes_max(), fill));
  outbox.advance(2);
  EXPECT_EQ(gathered(outbox), "rst");
  ASSERT_TRUE(outbox.gather_only(only));
  EXPECT_EQ(only.iov_len, 3u);
  outbox.advance_only();
  EXPECT_EQ(pool.available(), pool.capacity());
  EXPECT_EQ(calls, 2);
}

TEST_F(OutboxTest, without_a_block_nothing_is_the_first) {
  std::vector<char*> taken;
  while (char* const block = pool.take()) taken.push_back(block);
  EXPECT_FALSE(outbox.write_first(10, [](char* to) noexcept { return to; }));
  EXPECT_TRUE(outbox.empty());
  for (char* const block : taken) pool.give(block);
}

TEST_F(OutboxTest, gather_fills_no_more_than_it_is_given_and_goes_on_after_advance) {
  const std::array<std::string, 5> texts = {"a", "b", "c", "d", "e"};
  for (const std::string& text : texts) ASSERT_TRUE(outbox.refer(text));
  std::array<iovec, 2> parts;
  ASSERT_EQ(outbox.gather(parts), 2u);
  EXPECT_EQ(*static_cast<const char*>(parts[1].iov_base), 'b');
  outbox.advance(2);
  ASSERT_EQ(outbox.gather(parts), 2u);
  EXPECT_EQ(*static_cast<const char*>(parts[0].iov_base), 'c');
}

TEST_F(OutboxTest, blocks_go_back_as_soon_as_their_last_byte_is_sent) {
  const std::size_t per_block = outbox.reserve_bytes_max();
  ASSERT_TRUE(outbox.write(std::string(3 * per_block, 'x')));
  EXPECT_EQ(pool.available(), pool.capacity() - 3);
  outbox.advance(per_block - 1);
  EXPECT_EQ(pool.available(), pool.capacity() - 3);
  outbox.advance(1);
  EXPECT_EQ(pool.available(), pool.capacity() - 2);
  outbox.advance(2 * per_block);
  EXPECT_EQ(pool.available(), pool.capacity());
}

TEST_F(OutboxTest, clear_forgets_everything_and_gives_every_block_back) {
  ASSERT_TRUE(outbox.write(std::string(3 * block_bytes, 'x')));
  outbox.clear();
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(pool.available(), pool.capacity());
  ASSERT_TRUE(outbox.write("again"));
  EXPECT_EQ(gathered(outbox), "again");
}

TEST_F(OutboxTest, a_write_that_does_not_fit_writes_nothing) {
  const std::size_t all = pool.capacity() * outbox.reserve_bytes_max();
  ASSERT_TRUE(outbox.write("kept"));
  EXPECT_FALSE(outbox.write(std::string(all, 'x')));
  EXPECT_EQ(gathered(outbox), "kept");
  // The block with "kept" may need a second segment, which takes 24 bytes of it.
  EXPECT_TRUE(outbox.write(std::string(all - 4 - 24, 'x')));
  EXPECT_EQ(pool.available(), 0u);
  EXPECT_FALSE(outbox.write("y"));
  EXPECT_FALSE(outbox.refer("y"));
  EXPECT_EQ(outbox.reserve(1), nullptr);
  EXPECT_EQ(outbox.pending(), all - 24);
}

TEST_F(OutboxTest, many_small_borrowed_pieces_each_cost_a_segment_and_are_all_sent) {
  constexpr int pieces = 64;
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  std::string expected;
  for (int index = 0; index < pieces; ++index) {
    const std::string_view piece = std::string_view(letters).substr(index % 26, 1);
    expected += piece;
    ASSERT_TRUE(outbox.refer(piece)) << index;
  }
  EXPECT_EQ(segments(outbox), static_cast<std::size_t>(pieces));
  EXPECT_EQ(gathered(outbox), expected);
  // 9 segments of 24 bytes fit a block of 256 bytes, beside its header and room for one more byte.
  EXPECT_EQ(pool.available(), pool.capacity() - 8);
  for (int index = 0; index < pieces; ++index) {
    EXPECT_EQ(gathered(outbox), expected.substr(static_cast<std::size_t>(index)));
    outbox.advance(1);
  }
  EXPECT_EQ(pool.available(), pool.capacity());
}

TEST_F(OutboxTest, two_outboxes_share_a_pool_and_neither_sees_the_other) {
  Outbox other(pool);
  ASSERT_TRUE(outbox.write("mine"));
  ASSERT_TRUE(other.write("yours"));
  outbox.advance(4);
  EXPECT_EQ(gathered(other), "yours");
}

using OutboxDeathTest = OutboxTest;

TEST_F(OutboxDeathTest, more_cannot_be_sent_than_was_pending) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ASSERT_TRUE(outbox.write("abc"));
  EXPECT_DEATH(outbox.advance(4), "REQUIRE failed: count <= pending_");
}

TEST_F(OutboxDeathTest, a_pool_whose_blocks_hold_no_segment_is_refused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        BlockPool small(32, 1);
        Outbox unusable(small);
      },
      "REQUIRE failed");
}

// ---- against a model: a queue of bytes, and copies of what was gathered and is still in flight
// ----

struct Model {
  explicit Model(std::uint64_t seed) : random(seed) {}

  std::string text(std::size_t bytes_max) {
    std::string made(random() % (bytes_max + 1), '\0');
    for (char& each : made) each = static_cast<char>('a' + next_letter++ % 26);
    return made;
  }

  void add(Outbox& outbox) {
    const std::size_t before = outbox.pending();
    std::string made = text(random() % 4 == 0 ? 600 : 40);
    bool added = false;
    switch (random() % 3) {
      case 0: added = outbox.write(made); break;
      case 1: added = put(outbox, made); break;
      default:
        borrowed.push_back(std::move(made));
        made = borrowed.back();
        added = outbox.refer(borrowed.back());
    }
    if (added) {
      expected += made;
    } else {
      ++refused;
      ASSERT_EQ(outbox.pending(), before);
    }
  }

  // Keeps the bytes as a kernel that reads them later would see them.
  void gather(const Outbox& outbox) {
    in_flight.resize(1 + random() % 64);
    in_flight.resize(outbox.gather(in_flight));
    in_flight_text.clear();
    for (const iovec& part : in_flight) {
      in_flight_text.append(static_cast<const char*>(part.iov_base), part.iov_len);
    }
    ASSERT_TRUE(expected.starts_with(in_flight_text));
  }

  void check_in_flight() const {
    std::size_t at = 0;
    for (const iovec& part : in_flight) {
      ASSERT_EQ(std::memcmp(part.iov_base, in_flight_text.data() + at, part.iov_len), 0);
      at += part.iov_len;
    }
  }

  void advance(Outbox& outbox) {
    const std::size_t count = random() % (in_flight_text.size() + 1);
    outbox.advance(count);
    expected.erase(0, count);
    in_flight.clear();
    in_flight_text.clear();
  }

  std::mt19937_64 random;
  std::string expected;
  std::deque<std::string> borrowed;  // a deque keeps its elements where they are
  std::vector<iovec> in_flight;
  std::string in_flight_text;
  std::uint64_t next_letter = 0;
  std::uint64_t refused = 0;
};

TEST(Outbox, behaves_as_a_queue_of_bytes_whose_gathered_part_does_not_change) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    BlockPool pool(block_bytes, 4 + seed % 30);
    Model model(seed);
    {
      Outbox outbox(pool);
      for (int step = 0; step < 2000; ++step) {
        switch (model.random() % 4) {
          case 0:
          case 1: model.add(outbox); break;
          case 2: model.gather(outbox); break;
          default: model.advance(outbox); break;
        }
        model.check_in_flight();
        ASSERT_EQ(outbox.pending(), model.expected.size()) << "seed " << seed;
        ASSERT_EQ(outbox.empty(), model.expected.empty());
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << " step " << step;
      }
      EXPECT_EQ(gathered(outbox), model.expected.substr(0, gathered(outbox).size()));
    }
    EXPECT_EQ(pool.available(), pool.capacity()) << "seed " << seed;
    refused += model.refused;
  }
  EXPECT_GT(refused, 1000u);  // the run met exhaustion
}

// Adds `count` bytes in at most four pieces of any kind.
bool add_in_pieces(Outbox& outbox, std::size_t count, std::mt19937_64& random,
                   const std::string& source) {
  for (int piece = 0; piece < 4 && count > 0; ++piece) {
    const std::size_t size = piece == 3 ? count : random() % (count + 1);
    const std::string_view text = std::string_view(source).substr(0, size);
    const std::uint64_t way = size <= outbox.reserve_bytes_max() ? random() % 3 : random() % 2;
    const bool added = way == 0   ? outbox.write(text)
                       : way == 1 ? outbox.refer(text)
                                  : put(outbox, text);
    if (!added) return false;
    count -= size;
  }
  return count == 0;
}

TEST(Outbox, what_has_room_promised_does_not_fail_in_up_to_four_pieces) {
  const std::string source(64 * 1024, 'x');
  int promised = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 random(seed);
    BlockPool pool(block_bytes, 1 + random() % 12);
    Outbox outbox(pool);
    Outbox hoarder(pool);
    const std::size_t hoarded = random() % (pool.capacity() * block_bytes);
    (void)hoarder.write(std::string_view(source).substr(0, hoarded));
    (void)outbox.write(std::string_view(source).substr(0, random() % (2 * block_bytes)));
    for (std::size_t small = random() % 20; small > 0; --small) (void)outbox.refer("z");

    // The largest count that is promised, which leaves the least to spare.
    std::size_t count = source.size();
    while (count > 0 && !outbox.has_capacity(count)) --count;
    if (count == 0) continue;
    ++promised;
    ASSERT_TRUE(add_in_pieces(outbox, count, random, source)) << "seed " << seed;
  }
  EXPECT_GT(promised, 500);
}

// ---- memory that is shared ----

struct Shared : Retained {
  explicit Shared(std::string given)
      : Retained([](Retained& self) noexcept { ++static_cast<Shared&>(self).releases; }),
        text(std::move(given)) {}
  std::string text;
  int releases = 0;
};

TEST_F(OutboxTest, shared_memory_is_let_go_of_when_the_last_byte_of_the_last_reference_is_passed) {
  Shared shared("one two");
  Outbox other(pool);
  ASSERT_TRUE(outbox.refer(Bytes(shared.text).substr(0, 4), shared));
  ASSERT_TRUE(outbox.refer(Bytes(shared.text).substr(4), shared));
  ASSERT_TRUE(other.refer(shared.text, shared));
  EXPECT_EQ(shared.references, 3u);
  outbox.advance(3);
  EXPECT_EQ(shared.references, 3u);
  outbox.advance(1);
  EXPECT_EQ(shared.references, 2u);
  other.advance(other.pending());
  EXPECT_EQ(shared.references, 1u);
  EXPECT_EQ(shared.releases, 0);
  outbox.advance(3);
  EXPECT_EQ(shared.releases, 1);
  EXPECT_EQ(pool.available(), pool.capacity());
}

TEST_F(OutboxTest, what_is_cleared_or_destroyed_lets_go_of_shared_memory_in_every_block) {
  Shared shared("x");
  {
    Outbox other(pool);
    for (int count = 0; count < 10; ++count) {
      ASSERT_TRUE(outbox.refer(shared.text, shared));
      ASSERT_TRUE(outbox.write("copy"));
      ASSERT_TRUE(other.refer(shared.text, shared));
    }
    outbox.advance(12);
    EXPECT_EQ(shared.references, 17u);
    outbox.clear();
    EXPECT_EQ(shared.references, 10u);
  }
  EXPECT_EQ(shared.releases, 1);
}

TEST_F(OutboxTest, a_reference_that_finds_no_room_retains_nothing) {
  Shared shared("x");
  while (outbox.refer(shared.text, shared)) {
  }
  const std::uint32_t references = shared.references;
  EXPECT_FALSE(outbox.refer(shared.text, shared));
  EXPECT_EQ(shared.references, references);
  EXPECT_EQ(outbox.pending(), references);
  EXPECT_TRUE(outbox.refer("", shared));
  EXPECT_EQ(shared.references, references);
  outbox.clear();  // before what it refers to
}

TEST_F(OutboxTest, what_is_pending_can_be_looked_at_with_the_memory_it_lies_in) {
  Shared shared("shared");
  ASSERT_TRUE(outbox.write("own "));
  ASSERT_TRUE(outbox.refer(shared.text, shared));
  outbox.advance(6);
  std::string seen;
  outbox.for_each_pending([&](Bytes bytes, const Retained* memory) {
    seen += std::string(bytes) + (memory == &shared ? " retained" : " own");
  });
  EXPECT_EQ(seen, "ared retained");
  outbox.clear();  // before what it refers to
}

// ---- files ----

TEST_F(OutboxTest, a_file_stands_between_what_was_written_before_and_after_it) {
  TestFile file("0123456789");
  ASSERT_TRUE(outbox.write("head "));
  ASSERT_TRUE(outbox.refer(file.part(2, 5)));
  ASSERT_TRUE(outbox.write("tail"));
  EXPECT_EQ(outbox.pending(), 14u);
  EXPECT_TRUE(outbox.has_files());
  EXPECT_EQ(gathered(outbox), "head ");
  EXPECT_EQ(outbox.front_file().size, 0u);
  const FilePart part = outbox.file_behind(1);
  EXPECT_EQ(part.file, &file);
  EXPECT_EQ(part.offset, 2u);
  EXPECT_EQ(part.size, 5u);
  outbox.advance(5);
  EXPECT_EQ(gathered(outbox), "");
  EXPECT_EQ(outbox.front_file().size, 5u);
  outbox.advance(2);
  EXPECT_EQ(outbox.front_file().offset, 4u);
  EXPECT_EQ(outbox.front_file().size, 3u);
  EXPECT_EQ(file.released, 0);
  outbox.advance(3);
  EXPECT_EQ(file.released, 1);
  EXPECT_EQ(gathered(outbox), "tail");
  EXPECT_EQ(outbox.front_file().size, 0u);
  outbox.advance(4);
  EXPECT_FALSE(outbox.has_files());
  EXPECT_EQ(pool.available(), pool.capacity());
}

TEST_F(OutboxTest, a_file_is_let_go_when_everything_is_forgotten) {
  TestFile file("0123456789");
  ASSERT_TRUE(outbox.refer(file.all()));
  ASSERT_TRUE(outbox.refer(file.all()));
  EXPECT_EQ(outbox.front_file().size, 10u);
  outbox.clear();
  EXPECT_EQ(file.released, 1);
  EXPECT_EQ(file.references, 0u);
}

TEST_F(OutboxTest, an_empty_part_of_a_file_is_nothing) {
  TestFile file("0123456789");
  ASSERT_TRUE(outbox.refer(file.part(10, 0)));
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(file.references, 0u);
  ASSERT_TRUE(outbox.write("after"));
  EXPECT_EQ(gathered(outbox), "after");
}

TEST_F(OutboxTest, an_outbox_that_is_full_takes_no_file) {
  TestFile file("0123456789");
  while (outbox.write("x")) continue;
  ASSERT_EQ(pool.available(), 0u);
  EXPECT_FALSE(outbox.refer(file.all()));
  EXPECT_EQ(file.references, 0u);
}

TEST_F(OutboxTest, who_looks_at_what_is_pending_sees_no_file) {
  TestFile file("0123456789");
  ASSERT_TRUE(outbox.write("a") && outbox.refer(file.all()) && outbox.write("b"));
  std::string seen;
  outbox.for_each_pending([&](Bytes bytes, const Retained*) { seen += bytes; });
  EXPECT_EQ(seen, "ab");
  outbox.clear();  // before the file
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
