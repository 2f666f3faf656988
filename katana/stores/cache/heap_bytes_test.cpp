// Tests that heap_bytes() agrees with the bytes that operator new allocated.
#include "katana/stores/cache/heap_bytes.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <map>
#include <string>
#include <vector>

#include "katana/base/system/thread_sanitizer_test.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/random.hpp"
#include "katana/stores/cache/cache.hpp"

namespace {

// The heap bytes that this thread has in use, malloc's share included; and the number of pieces.
constinit thread_local std::int64_t heap_bytes_in_use = 0;
constinit thread_local std::int64_t heap_pieces_in_use = 0;
// A piece that is used again may be larger by this.
constexpr std::int64_t rest_bytes_max = 16;

}  // namespace

#if !defined(KATANA_THREAD_SANITIZER)
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  heap_bytes_in_use += static_cast<std::int64_t>(malloc_usable_size(memory) + 8);
  ++heap_pieces_in_use;
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) {
    heap_bytes_in_use -= static_cast<std::int64_t>(malloc_usable_size(memory) + 8);
    --heap_pieces_in_use;
  }
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  ::operator delete(memory);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { ::operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  ::operator delete(memory);
}
#endif

namespace katana::cache {

struct Address {
  std::string street;
  std::optional<std::string> town;
};
KATANA_DESCRIBE(Address, street, town)

struct Person {
  std::int64_t id = 0;
  std::string name;
  std::vector<std::string> roles;
  std::vector<Address> addresses;
  std::map<std::string, std::string> notes;
  std::vector<std::byte> picture;
  container::Value more;
};
KATANA_DESCRIBE(Person, id, name, roles, addresses, notes, picture, more)

namespace {

Person random_person(Random& random) {
  const auto text = [&random](std::size_t size_max) {
    return std::string(random.below(size_max), 'x');
  };
  Person person;
  person.name = text(60);
  for (auto count = random.below(4); count > 0; --count) person.roles.push_back(text(40));
  for (auto count = random.below(3); count > 0; --count) {
    person.addresses.push_back({.street = text(50), .town = std::nullopt});
    if (random.chance(512)) person.addresses.back().town = text(30);
  }
  for (auto count = random.below(4); count > 0; --count) {
    person.notes[text(30) + std::to_string(count)] = text(80);
  }
  person.picture.resize(random.below(500));
  if (random.chance(512)) {
    container::Object object;
    object.set("a long name of a member", container::Value(text(100)));
    object.set("list", container::Value(container::List{1, "x", container::Value(text(50))}));
    person.more = std::move(object);
  }
  return person;
}

class HeapBytesTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(KATANA_THREAD_SANITIZER)
    GTEST_SKIP() << "ThreadSanitizer has an operator new of its own";
#endif
  }
  // ASan's malloc reports only the size of a piece, without its share.
#if defined(__has_feature)
#define KATANA_HAS_FEATURE(name) __has_feature(name)
#else
#define KATANA_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || KATANA_HAS_FEATURE(address_sanitizer)
  static constexpr double more_than_counted = 2;
#else
  static constexpr double more_than_counted = 1.1;
#endif
};

TEST_F(HeapBytesTest, nothing_on_the_heap_is_left_out) {
  Random random(11);
  for (int count = 0; count < 500; ++count) {
    const std::int64_t before = heap_bytes_in_use, pieces_before = heap_pieces_in_use;
    const Person person = random_person(random);
    const auto real = static_cast<double>(heap_bytes_in_use - before);
    const auto rests = static_cast<double>(rest_bytes_max * (heap_pieces_in_use - pieces_before));
    const auto counted = static_cast<double>(heap_bytes(person));
    EXPECT_GE(counted + rests, real);
    EXPECT_LE(counted, more_than_counted * real + 400)
        << "an object may have room for twice as much";
  }
}

TEST_F(HeapBytesTest, a_cache_takes_what_it_says_that_it_takes) {
  const Options options{.bytes_max = std::size_t{4} << 20, .entries_max = 100'000};
  const std::int64_t before = heap_bytes_in_use, pieces_before = heap_pieces_in_use;
  const auto people = *Cache<std::string, Person>::make(options);
  Random random(12);
  for (int count = 0; count < 20'000; ++count) {
    people.put("person:" + std::to_string(random.below(10'000)), random_person(random),
               {.ttl = {}, .tags = {"tag" + std::to_string(random.below(1000))}});
    const std::int64_t rests = rest_bytes_max * (heap_pieces_in_use - pieces_before);
    const auto real = static_cast<std::size_t>(heap_bytes_in_use - before - rests);
    // Shards and their locks, which do not grow.
    ASSERT_LE(real, options.bytes_max + 4096) << "the bound is one of memory";
  }
  const Statistics statistics = people.statistics();
  const auto real = static_cast<double>(heap_bytes_in_use - before);
  EXPECT_GT(statistics.evictions, 1000u);
  const auto rests = static_cast<double>(rest_bytes_max * (heap_pieces_in_use - pieces_before));
  EXPECT_GE(static_cast<double>(statistics.bytes) + 4096 + rests, real);
  EXPECT_LE(static_cast<double>(statistics.bytes), more_than_counted * real);
  EXPECT_GT(statistics.bytes, options.bytes_max / 2);
}

TEST_F(HeapBytesTest, a_hit_allocates_nothing) {
  const auto numbers = *Cache<std::int64_t, Person>::make({});
  Random random(13);
  numbers.put(1, random_person(random));
  const std::int64_t before = heap_bytes_in_use;
  EXPECT_TRUE(numbers.get(1));
  EXPECT_EQ(heap_bytes_in_use, before);
}

// libstdc++ puts a virtual table, two counts and the pointer into a piece, and a deleter if there
// is one.
TEST_F(HeapBytesTest, the_counts_of_a_shared_pointer_are_a_piece) {
  const std::shared_ptr<int> plain(new int(1));
  EXPECT_GE(heap_bytes(plain), allocation_bytes(sizeof(int)) + allocation_bytes(8 + 8 + 8));
  const std::shared_ptr<int> with_deleter(new int(1), +[](int* number) { delete number; });
  EXPECT_GE(heap_bytes(with_deleter), allocation_bytes(sizeof(int)) + allocation_bytes(4 * 8));
  EXPECT_EQ(heap_bytes(std::shared_ptr<int>()), 0u);
}

TEST_F(HeapBytesTest, a_type_may_say_it_of_itself) {
  EXPECT_EQ(heap_bytes(7), 0u);
  EXPECT_EQ(heap_bytes(std::string("short")), 0u);
  EXPECT_EQ(allocation_bytes(1), 32u);
  EXPECT_EQ(allocation_bytes(24), 32u);
  EXPECT_EQ(allocation_bytes(25), 48u);
  EXPECT_EQ(heap_bytes(std::make_unique<int>(1)), 32u);
}

}  // namespace
}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
