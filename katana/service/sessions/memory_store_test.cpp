#include "katana/service/sessions/memory_store.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace katana::sessions {
namespace {

template <class T>
T finished(Task<T> task) {
  EXPECT_TRUE(task.start());
  return task.result();
}
SessionKey key_of(int number) { return crypto::sha256(std::to_string(number)); }
StoredSession session_of(const std::string& user, std::int64_t seen_s = 0,
                         std::size_t content_bytes = 0) {
  auto record = std::make_shared<SessionRecord>();
  record->principal = user;
  record->seen_s = seen_s;
  record->content.assign(content_bytes, 'c');
  return {std::move(record), 0};
}
bool has(MemorySessionStore& store, int number, std::int64_t now_s = 0) {
  return finished(store.load(key_of(number), now_s))->has_value();
}

TEST(MemoryStore, forgets_visitors_the_longest_unseen_first_and_never_users) {
  MemorySessionStore store({.sessions_max = 3});
  ASSERT_TRUE(finished(store.create(key_of(1), session_of("ann"), 100)));
  ASSERT_TRUE(finished(store.create(key_of(2), session_of(""), 100)));
  ASSERT_TRUE(finished(store.create(key_of(3), session_of(""), 100)));
  ASSERT_TRUE(finished(store.touch(key_of(2), 5, 100)));
  ASSERT_TRUE(finished(store.create(key_of(4), session_of("bob"), 100)));
  EXPECT_FALSE(has(store, 3));
  EXPECT_TRUE(has(store, 2));
  ASSERT_TRUE(finished(store.create(key_of(5), session_of("cid"), 100)));
  EXPECT_FALSE(has(store, 2));
  const auto full = finished(store.create(key_of(6), session_of("dan"), 100));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(has(store, 1));
  EXPECT_EQ(store.figures().forgotten, 2u);
}

TEST(MemoryStore, what_is_expired_makes_room_and_is_not_found) {
  MemorySessionStore store({.sessions_max = 2});
  ASSERT_TRUE(finished(store.create(key_of(1), session_of("ann"), 10)));
  ASSERT_TRUE(finished(store.create(key_of(2), session_of("bob"), 20)));
  EXPECT_TRUE(has(store, 1, 9));
  ASSERT_TRUE(finished(store.create(key_of(3), session_of("cid", 10), 30)));
  EXPECT_FALSE(has(store, 1, 0));
  EXPECT_FALSE(has(store, 2, 20));
  EXPECT_EQ(store.figures().sessions, 1u);
}

TEST(MemoryStore, counts_every_byte_and_gives_all_of_them_back) {
  MemorySessionStore store({.sessions_max = 100, .bytes_max = 10'000});
  ASSERT_TRUE(finished(store.create(key_of(1), session_of("ann", 0, 4000), 100)));
  EXPECT_FALSE(finished(store.create(key_of(2), session_of("bob", 0, 6000), 100)));
  ASSERT_TRUE(finished(store.create(key_of(2), session_of("bob", 0, 10), 100)));
  EXPECT_FALSE(finished(store.update(key_of(2), session_of("bob", 0, 6000), 100)));
  EXPECT_TRUE(has(store, 2));
  EXPECT_TRUE(*finished(store.update(key_of(1), session_of("ann", 0, 10), 100)));
  StoredSession next = session_of("bob", 0, 6000);
  EXPECT_TRUE(*finished(store.update(key_of(2), next, 100)));
  EXPECT_FALSE(*finished(store.update(key_of(2), next, 100)));  // its version is 1 now
  EXPECT_EQ(*finished(store.remove_all("", "bob", std::nullopt)), 1);
  ASSERT_TRUE(finished(store.remove(key_of(1))));
  ASSERT_TRUE(finished(store.remove(key_of(1))));
  EXPECT_EQ(store.figures().sessions, 0u);
  EXPECT_EQ(store.figures().bytes, 0u);
}

// Reactors share it: what each did is whole, and every byte is given back.
TEST(MemoryStore, is_shared_by_threads) {
  MemorySessionStore store({.sessions_max = 50, .bytes_max = std::size_t{1} << 20});
  constexpr int threads = 4, keys = 100, rounds = 2000;
  std::vector<std::jthread> workers;
  for (int worker = 0; worker < threads; ++worker) {
    workers.emplace_back([&store, worker] {
      for (int round = 0; round < rounds; ++round) {
        const SessionKey key = key_of((round * 7 + worker * 13) % keys);
        const std::string user = round % 3 == 0 ? "" : "user " + std::to_string(round % 5);
        switch (round % 4) {
          case 0: {
            const auto found = finished(store.load(key, 0));
            if (found && !*found) (void)finished(store.create(key, session_of(user), 100));
            break;
          }
          case 1: {
            const auto found = finished(store.load(key, 0));
            if (!found || !*found) break;
            StoredSession next = session_of(user, 1, 100);
            next.version = (*found)->version;
            (void)finished(store.update(key, next, 100));
            break;
          }
          case 2: (void)finished(store.touch(key, 2, 200)); break;
          default:
            if (round % 8 == 3) (void)finished(store.remove(key));
            if (round % 400 == 7) (void)finished(store.remove_all("", "user 1", std::nullopt));
        }
      }
    });
  }
  workers.clear();
  EXPECT_LE(store.figures().sessions, 50u);
  for (int number = 0; number < keys; ++number) (void)finished(store.remove(key_of(number)));
  EXPECT_EQ(store.figures().sessions, 0u);
  EXPECT_EQ(store.figures().bytes, 0u);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
