#include "katana/identity/sessions/memory_store.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "katana/identity/sessions/store_suite_test.hpp"

namespace katana::sessions {
namespace {

template <class T>
T finished(Task<T> task) {
  EXPECT_TRUE(task.start());
  return task.result();
}
SessionKey key_of(int number) { return crypto::sha256(std::to_string(number)); }
SessionWrite write_of(int number, const std::string& user, std::int64_t expires_s,
                      std::int64_t seen_s = 0, std::size_t content_bytes = 0) {
  SessionRecord record;
  record.principal = user;
  record.seen_s = seen_s;
  record.content.assign(content_bytes, 'c');
  SessionWrite write;
  write.key = key_of(number);
  write.record = std::make_shared<const SessionRecord>(std::move(record));
  write.expires_s = expires_s;
  return write;
}
SessionWrite behind(std::int64_t version, SessionWrite write) {
  write.read_version = version;
  return write;
}
bool set(MemorySessionStore& store, SessionWrite write) {
  const auto written = finished(store.compare_and_set(std::move(write)));
  return written && *written;
}
bool has(MemorySessionStore& store, int number, std::int64_t now_s = 0) {
  return finished(store.load(key_of(number), now_s))->has_value();
}

TEST(MemoryStore, does_what_every_store_does) {
  MemorySessionStore store;
  EXPECT_EQ(finished(check_store(store, 1'000'000)), "");
  EXPECT_EQ(store.statistics().sessions, 0u);
  EXPECT_EQ(store.statistics().bytes, 0u);
}

TEST(MemoryStore, two_requests_of_a_session_may_meet_in_every_order) {
  MemorySessionStore store;
  for (const Deed deed : deeds) EXPECT_EQ(finished(check_requests(store, deed)), "");
  EXPECT_EQ(store.statistics().sessions, 0u);
  EXPECT_EQ(store.statistics().bytes, 0u);
}

TEST(MemoryStore, forgets_visitors_the_longest_unseen_first_and_never_users) {
  MemorySessionStore store({.sessions_max = 3});
  ASSERT_TRUE(set(store, write_of(1, "ann", 100)));
  ASSERT_TRUE(set(store, write_of(2, "", 100)));
  ASSERT_TRUE(set(store, write_of(3, "", 100)));
  ASSERT_TRUE(finished(store.touch(key_of(2), 0, 5, 100)));
  ASSERT_TRUE(set(store, write_of(4, "bob", 100)));
  EXPECT_FALSE(has(store, 3));
  EXPECT_TRUE(has(store, 2));
  ASSERT_TRUE(set(store, write_of(5, "cid", 100)));
  EXPECT_FALSE(has(store, 2));
  const auto full = finished(store.compare_and_set(write_of(6, "dan", 100)));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(has(store, 1));
  EXPECT_EQ(store.statistics().forgotten, 2u);
}

TEST(MemoryStore, a_visitor_who_logs_in_makes_room_for_nobody) {
  MemorySessionStore store({.sessions_max = 2});
  ASSERT_TRUE(set(store, write_of(1, "", 100)));
  ASSERT_TRUE(set(store, write_of(2, "", 100)));
  ASSERT_TRUE(set(store, behind(0, write_of(1, "ann", 100))));
  ASSERT_TRUE(set(store, write_of(3, "", 100)));
  EXPECT_TRUE(has(store, 1));
  EXPECT_FALSE(has(store, 2));
}

TEST(MemoryStore, what_is_expired_makes_room_and_is_not_found) {
  MemorySessionStore store({.sessions_max = 2});
  ASSERT_TRUE(set(store, write_of(1, "ann", 10)));
  ASSERT_TRUE(set(store, write_of(2, "bob", 20)));
  EXPECT_TRUE(has(store, 1, 9));
  ASSERT_TRUE(set(store, write_of(3, "cid", 30, 10)));
  EXPECT_FALSE(has(store, 1, 0));
  EXPECT_FALSE(has(store, 2, 20));
  EXPECT_EQ(store.statistics().sessions, 1u);
}

TEST(MemoryStore, counts_every_byte_and_gives_all_of_them_back) {
  MemorySessionStore store({.sessions_max = 100, .bytes_max = 10'000});
  ASSERT_TRUE(set(store, write_of(1, "ann", 100, 0, 4000)));
  EXPECT_FALSE(finished(store.compare_and_set(write_of(2, "bob", 100, 0, 6000))));
  ASSERT_TRUE(set(store, write_of(2, "bob", 100, 0, 10)));
  EXPECT_FALSE(finished(store.compare_and_set(behind(0, write_of(2, "bob", 100, 0, 6000)))));
  EXPECT_TRUE(has(store, 2));
  EXPECT_TRUE(set(store, behind(0, write_of(1, "ann", 100, 0, 10))));
  EXPECT_TRUE(set(store, behind(0, write_of(2, "bob", 100, 0, 6000))));
  EXPECT_FALSE(set(store, behind(0, write_of(2, "bob", 100, 0, 10))));  // its version is 1 now
  EXPECT_EQ(*finished(store.remove_all("", "bob")), 1);
  ASSERT_TRUE(finished(store.remove(key_of(1))));
  EXPECT_EQ(store.statistics().sessions, 0u);
  EXPECT_EQ(store.statistics().bytes, 0u);
}

TEST(MemoryStore, visitors_are_no_user_whose_sessions_could_be_ended) {
  MemorySessionStore store;
  for (const int number : {1, 2}) ASSERT_TRUE(set(store, write_of(number, "", 100)));
  EXPECT_EQ(finished(store.remove_all("", "")), 0);
  EXPECT_EQ(finished(store.remove_others("", "", key_of(1), 0)), 0);
  EXPECT_TRUE(has(store, 1));
  EXPECT_TRUE(has(store, 2));
}

TEST(MemoryStore, names_of_users_and_issuers_are_told_apart) {
  MemorySessionStore store;
  SessionRecord record;
  record.issuer = "a";
  record.principal = "bc";
  SessionWrite write = write_of(1, "", 100);
  write.record = std::make_shared<const SessionRecord>(record);
  ASSERT_TRUE(set(store, write));
  EXPECT_EQ(*finished(store.remove_all("ab", "c")), 0);
  EXPECT_EQ(*finished(store.remove_all("a", "bc")), 1);
}

// Several threads share a store. All changes are complete, and all bytes are freed.
TEST(MemoryStore, is_shared_by_threads) {
  MemorySessionStore store({.sessions_max = 50, .bytes_max = std::size_t{1} << 20});
  constexpr int threads = 4, keys = 100, rounds = 2000;
  std::vector<std::jthread> workers;
  for (int worker = 0; worker < threads; ++worker) {
    workers.emplace_back([&store, worker] {
      for (int round = 0; round < rounds; ++round) {
        const int number = (round * 7 + worker * 13) % keys;
        const SessionKey key = key_of(number);
        const std::string user = round % 3 == 0 ? "" : "user " + std::to_string(round % 5);
        switch (round % 4) {
          case 0: (void)set(store, write_of(number, user, 100)); break;
          case 1: {
            const auto found = finished(store.load(key, 0));
            if (!found || !*found) break;
            (void)set(store, behind((*found)->version, write_of(number, user, 100, 1, 100)));
            break;
          }
          case 2: (void)finished(store.touch(key, 0, 2, 200)); break;
          default:
            if (round % 8 == 3) (void)finished(store.remove(key));
            if (round % 400 == 7) (void)finished(store.remove_all("", "user 1"));
            if (round % 400 == 11) (void)finished(store.remove_others("", "user 2", key, 0));
        }
      }
    });
  }
  workers.clear();
  EXPECT_LE(store.statistics().sessions, 50u);
  for (int number = 0; number < keys; ++number) (void)finished(store.remove(key_of(number)));
  EXPECT_EQ(store.statistics().sessions, 0u);
  EXPECT_EQ(store.statistics().bytes, 0u);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
