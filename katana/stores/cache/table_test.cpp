#include "katana/stores/cache/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "katana/base/values/keyed_hash.hpp"
#include "katana/base/values/random.hpp"
#include "katana/stores/cache/heap_bytes.hpp"

namespace katana::cache::detail {
namespace {

constexpr KeyedHash hash_under_test(1, 2);

class TableTest : public testing::Test {
 protected:
  explicit TableTest(TableLimits limits = {.bytes_max = 1 << 20, .entries_max = 100})
      : bounds(limits), table(limits) {}

  bool put(const std::string& key, std::size_t value_bytes = 0,
           std::vector<std::uint64_t> tags = {}, Instant expires = never) {
    Garbage garbage;
    return table.put(key, hash_under_test.of(key),
                     {.value = {}, .value_bytes = value_bytes, .expires = expires, .tags = tags},
                     now, garbage);
  }
  bool get(const std::string& key) {
    Garbage garbage;
    return table.find(key, hash_under_test.of(key), now, garbage) != nullptr;
  }
  bool erase(const std::string& key) {
    Garbage garbage;
    return table.erase(key, hash_under_test.of(key), garbage);
  }
  void check_bounds() const {
    ASSERT_LE(table.bytes(), bounds.bytes_max);
    ASSERT_LE(table.count(), bounds.entries_max);
  }

  const TableLimits bounds;
  Table table;
  Instant now{seconds(1).ns};
};

std::string name(char kind, std::size_t number) { return kind + std::to_string(number); }

TEST_F(TableTest, what_is_used_again_stays_when_a_scan_passes) {
  for (std::size_t index = 0; index < 80; ++index) put(name('h', index));
  for (std::size_t index = 0; index < 80; ++index) EXPECT_TRUE(get(name('h', index)));
  for (std::size_t index = 0; index < 10'000; ++index) {
    put(name('s', index));
    ASSERT_NO_FATAL_FAILURE(check_bounds());
  }
  std::size_t kept = 0;
  for (std::size_t index = 0; index < 80; ++index) kept += get(name('h', index)) ? 1 : 0;
  EXPECT_EQ(kept, 80u);
}

TEST_F(TableTest, what_comes_again_soon_after_it_was_forgotten_is_taken_for_good) {
  for (std::size_t index = 0; index < 100; ++index) put(name('a', index));
  for (std::size_t index = 0; index < 20; ++index) put(name('b', index));  // a0 … a19 are ghosts
  EXPECT_FALSE(get("a3"));
  put("a3");
  for (std::size_t index = 0; index < 1000; ++index) put(name('c', index));
  EXPECT_TRUE(get("a3")) << "never used, but in main";
}

TEST_F(TableTest, what_is_not_used_any_more_leaves_in_the_end) {
  put("hot");
  for (int count = 0; count < 10; ++count) get("hot");
  for (std::size_t round = 0; round < 30; ++round) {
    for (std::size_t index = 0; index < 100; ++index) {
      put(name('n', round * 100 + index));
      get(name('n', round * 100 + index));
    }
  }
  EXPECT_FALSE(get("hot"));
}

TEST_F(TableTest, expired_entries_give_way_before_others) {
  for (std::size_t index = 0; index < 50; ++index) put(name('o', index), 0, {}, now + seconds(1));
  for (std::size_t index = 0; index < 50; ++index) get(name('o', index));
  for (std::size_t index = 0; index < 50; ++index) put(name('y', index));
  now = now + seconds(2);
  for (std::size_t index = 0; index < 50; ++index) put(name('z', index));
  EXPECT_EQ(table.counts().evictions, 0u);
  EXPECT_EQ(table.counts().expired, 50u);
}

TEST_F(TableTest, one_put_looks_at_a_bounded_number_of_entries) {
  for (std::size_t index = 0; index < 100; ++index) put(name('u', index));
  for (std::size_t index = 0; index < 100; ++index) {
    for (int count = 0; count < 4; ++count) get(name('u', index));
  }
  put("new");
  EXPECT_EQ(table.count(), 100u);
  EXPECT_EQ(table.counts().evictions, 1u) << "although all had been used";
}

class ScannedTableTest : public TableTest {
 protected:
  ScannedTableTest() : TableTest({.bytes_max = 1 << 20, .entries_max = 200}) {}
};

TEST_F(ScannedTableTest, one_put_keeps_kept_max_entries_that_were_used_and_takes_the_next) {
  for (std::size_t index = 0; index < 200; ++index) {
    put(name('u', index));
    get(name('u', index));
  }
  put("new");
  EXPECT_EQ(table.count(), 200u);
  for (std::size_t index = 0; index < 200; ++index) {
    EXPECT_EQ(get(name('u', index)), index != Table::kept_max) << index;
  }
}

class TenEntries : public TableTest {
 protected:
  TenEntries() : TableTest({.bytes_max = 1 << 20, .entries_max = 10}) {
    for (const char* key = "abcdefghi"; *key != 0; ++key) put_used(std::string(1, *key));
    put_used("j");
    // "a" to "i" move to the main queue, and "a" has to leave it.
    put_used("k");
  }
  // Without counting a use.
  bool is_there(const std::string& key) const {
    return table.peek(key, hash_under_test.of(key)) != nullptr;
  }
  // Each entry was used, and so moves from the small queue to the main one.
  void put_used(const std::string& key) {
    put(key);
    get(key);
  }
};

TEST_F(TenEntries, an_entry_that_moves_to_the_main_queue_is_taken_for_unused) {
  get("b");
  for (const char* key = "lmnopqr"; *key != 0; ++key) put_used(std::string(1, *key));
  // Before "j", which has just moved, "b" was kept once for its use.
  put_used("s");
  EXPECT_TRUE(get("b"));
  put_used("t");
  EXPECT_FALSE(get("j"));
}

TEST_F(TenEntries, an_entry_of_the_main_queue_is_kept_once_for_each_use) {
  for (int count = 0; count < 3; ++count) get("b");
  for (std::size_t index = 0; index < 20; ++index) put_used(name('n', index));
  EXPECT_TRUE(is_there("b")) << "20 puts are two rounds";
  for (std::size_t index = 0; index < 100; ++index) put_used(name('m', index));
  EXPECT_FALSE(is_there("b")) << "ten rounds without a use";
}

TEST_F(TenEntries, an_unused_entry_stays_while_the_small_queue_has_no_more_than_its_share) {
  put("x");
  put_used("l");
  EXPECT_TRUE(is_there("x")) << "one of ten is the share";
  put_used("m");
  EXPECT_FALSE(is_there("x"));
}

// The index of tags grows in steps, while the table is full of values.
TEST(TableBytes, include_the_index_of_tags_when_it_grows) {
  for (std::size_t bytes_max = 8 << 10; bytes_max <= 128 << 10; bytes_max += 8 << 10) {
    Table table({.bytes_max = bytes_max, .entries_max = 100'000});
    Garbage garbage;
    const Instant now{seconds(1).ns};
    for (std::size_t index = 0; index < 400; ++index) {
      const std::string key = name('v', index);
      table.put(key, hash_under_test.of(key),
                {.value = {}, .value_bytes = 500, .expires = never, .tags = {}}, now, garbage);
    }
    for (std::uint64_t index = 0; index < 2000; ++index) {
      const std::string key = name('t', index);
      const std::vector<std::uint64_t> tags = {index * 3, index * 3 + 1, index * 3 + 2};
      table.put(key, hash_under_test.of(key),
                {.value = {}, .value_bytes = 0, .expires = never, .tags = tags}, now, garbage);
      ASSERT_LE(table.bytes(), bytes_max) << bytes_max << " " << index;
    }
  }
}

TEST(TableBytes, of_a_table_whose_arrays_alone_need_them_leave_no_room_for_an_entry) {
  std::size_t refused = 0;
  for (std::size_t bytes_max = 64; bytes_max < 8192; bytes_max += 64) {
    Table table({.bytes_max = bytes_max, .entries_max = 100});
    Garbage garbage;
    const std::size_t empty = table.bytes();
    const bool is_put = table.put(
        "a", 1, {.value = {}, .value_bytes = 0, .expires = never, .tags = {}}, Instant{1}, garbage);
    EXPECT_EQ(table.count(), is_put ? 1u : 0u);
    EXPECT_LE(table.bytes(), is_put ? bytes_max : empty);
    refused += is_put ? 0 : 1;
  }
  EXPECT_GT(refused, 0u);
}

TEST_F(TableTest, a_replaced_entry_keeps_its_place_and_its_new_tags_alone) {
  put("a", 0, {1, 2});
  put("a", 100, {2, 3});
  Garbage garbage;
  EXPECT_EQ(table.erase_tag(1, garbage), 0u);
  EXPECT_EQ(table.count(), 1u);
  EXPECT_EQ(table.erase_tag(3, garbage), 1u);
  EXPECT_EQ(table.erase_tag(2, garbage), 0u);
  EXPECT_EQ(table.count(), 0u);
}

class SmallTableTest : public TableTest {
 protected:
  SmallTableTest() : TableTest({.bytes_max = 64 * 1024, .entries_max = 100'000}) {}
};

TEST_F(SmallTableTest, it_is_bounded_and_finds_what_it_has_whatever_is_done_to_it) {
  // The keys and tags that were put: an entry that is found has to be among them.
  std::map<std::string, std::vector<std::uint64_t>> known;
  Random random(7);
  std::size_t found = 0;
  for (int step = 0; step < 60'000; ++step) {
    const std::uint64_t number = random.below(500);
    const std::string name = std::string(1 + number % 40, 'k') + std::to_string(number);
    switch (random.below(16)) {
      case 0:
        erase(name);
        known.erase(name);
        EXPECT_FALSE(get(name));
        break;
      case 1: {
        const std::uint64_t tag = random.below(50);
        Garbage garbage;
        table.erase_tag(tag, garbage);
        std::erase_if(known, [&](const auto& each) {
          return std::ranges::find(each.second, tag) != each.second.end();
        });
        break;
      }
      case 2: now = now + milliseconds(10); break;
      case 3:
      case 4:
      case 5:
      case 6:
      case 7: {
        std::vector<std::uint64_t> tags;
        for (auto count = random.below(4); count > 0; --count) tags.push_back(random.below(50));
        std::ranges::sort(tags);
        tags.erase(std::ranges::unique(tags).begin(), tags.end());
        const std::size_t bytes = random.chance(20) ? random.below(40'000) : random.below(300);
        const bool kept =
            put(name, bytes, tags,
                now + milliseconds(5 + 10 * static_cast<std::int64_t>(random.below(50))));
        EXPECT_EQ(get(name), kept);
        if (kept) {
          known[name] = tags;
        } else {
          known.erase(name);
        }
        break;
      }
      default:
        if (get(name)) {
          ++found;
          EXPECT_TRUE(known.contains(name)) << name;
        }
    }
    ASSERT_NO_FATAL_FAILURE(check_bounds());
  }
  EXPECT_GT(found, 1000u);
  EXPECT_GT(table.counts().evictions, 1000u);
  EXPECT_GT(table.counts().expired, 100u);
  Garbage garbage;
  table.clear(garbage);
  EXPECT_EQ(table.count(), 0u);
}

TEST_F(SmallTableTest, tags_are_counted_and_bounded_with_the_rest) {
  for (std::uint64_t index = 0; index < 20'000; ++index) {
    EXPECT_TRUE(put("k" + std::to_string(index), 0, {index * 3, index * 3 + 1, index * 3 + 2}));
    ASSERT_NO_FATAL_FAILURE(check_bounds());
  }
  EXPECT_GT(table.count(), 50u);
}

TEST(Ghosts, are_forgotten_after_as_many_others) {
  Ghosts ghosts(100);
  Random random(3);
  ghosts.add(1'000'000'007);
  EXPECT_TRUE(ghosts.take(1'000'000'007));
  EXPECT_FALSE(ghosts.take(1'000'000'007)) << "once";
  ghosts.add(1'000'000'007);
  for (int count = 0; count < 100; ++count) ghosts.add(random.next());
  EXPECT_FALSE(ghosts.take(1'000'000'007));
  std::size_t remembered = 0;
  std::vector<std::uint64_t> last;
  for (int count = 0; count < 90; ++count) ghosts.add(last.emplace_back(random.next()));
  for (const std::uint64_t hash : last) remembered += ghosts.take(hash) ? 1 : 0;
  EXPECT_GT(remembered, 85u) << "sets do not fill alike, but nearly";
  EXPECT_FALSE(Ghosts(0).take(1));
  Ghosts one(1);
  one.add(5);
  EXPECT_TRUE(one.take(5));
  Ghosts none(0);
  none.add(5);
  EXPECT_FALSE(none.take(5));
}

}  // namespace
}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
