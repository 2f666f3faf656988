#include "katana/identity/auth/token_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::auth {
namespace {

TokenCache::Entry entry_of(std::string token) {
  return {std::move(token), Principal({.id = "ann"}), {}, {}, {}, {}};
}

TEST(TokenCache, a_token_is_found_by_its_whole_text) {
  TokenCache cache(64, 1 << 20);
  const std::string end(64, 'x');
  cache.add(entry_of("a" + end));
  EXPECT_NE(cache.find("a" + end), nullptr);
  EXPECT_EQ(cache.find("b" + end), nullptr);  // of the same hash
  EXPECT_EQ(cache.find(end), nullptr);
  EXPECT_EQ(cache.find(""), nullptr);
  cache.remove("b" + end);
  EXPECT_NE(cache.find("a" + end), nullptr);
  cache.remove("a" + end);
  EXPECT_EQ(cache.find("a" + end), nullptr);
  EXPECT_EQ(cache.count(), 0U);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(TokenCache, what_is_added_twice_is_there_once) {
  TokenCache cache(64, 1 << 20);
  cache.add(entry_of("a"));
  cache.add(entry_of("a"));
  EXPECT_EQ(cache.count(), 1U);
}

TEST(TokenCache, no_more_than_its_count_is_kept_and_what_was_used_last_stays) {
  TokenCache cache(8, 1 << 20);  // one set
  for (int number = 0; number < 8; ++number) cache.add(entry_of(std::to_string(number)));
  EXPECT_NE(cache.find("0"), nullptr);
  for (int number = 8; number < 15; ++number) cache.add(entry_of(std::to_string(number)));
  EXPECT_EQ(cache.count(), 8U);
  EXPECT_NE(cache.find("0"), nullptr);
  for (int number = 1; number < 8; ++number) EXPECT_EQ(cache.find(std::to_string(number)), nullptr);
}

TEST(TokenCache, no_more_than_its_bytes_are_kept) {
  constexpr std::size_t bytes_max = 64 * 1024;
  TokenCache cache(1024, bytes_max);
  for (int number = 0; number < 1000; ++number) {
    cache.add(entry_of(std::string(1000, 'a') + std::to_string(number)));
    ASSERT_LE(cache.bytes(), bytes_max);
  }
  EXPECT_NE(cache.find(std::string(1000, 'a') + "999"), nullptr);
  cache.add(entry_of(std::string(bytes_max, 'a')));  // never fits
  EXPECT_EQ(cache.find(std::string(bytes_max, 'a')), nullptr);
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0U);
  EXPECT_EQ(cache.count(), 0U);
}

TEST(TokenCache, what_takes_exactly_its_bytes_fits) {
  TokenCache large(8, 1 << 20);
  large.add(entry_of("a"));
  const std::size_t size = large.bytes();
  TokenCache one(8, size);
  one.add(entry_of("a"));
  EXPECT_NE(one.find("a"), nullptr);
  TokenCache two(8, 2 * size);
  two.add(entry_of("a"));
  two.add(entry_of("b"));
  EXPECT_EQ(two.count(), 2U);
  two.add(entry_of("c"));
  EXPECT_EQ(two.count(), 2U);
}

TEST(TokenCache, claims_count_as_what_they_take_and_not_as_what_was_sent) {
  TokenCache cache(64, 1 << 20);
  container::List numbers(4000, container::Value(1));
  PrincipalFacts facts{.id = "ann"};
  facts.claims.set("numbers", container::List{container::Value(std::move(numbers))});
  TokenCache::Entry entry = entry_of("a");
  entry.principal = Principal(std::move(facts));
  cache.add(std::move(entry));
  EXPECT_GE(cache.bytes(), 4000 * sizeof(container::Value));
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0U);
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
