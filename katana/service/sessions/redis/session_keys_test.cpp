#include "katana/service/sessions/redis/session_keys.hpp"

#include <ctime>

#include "katana/redis/redis_fixture_test.hpp"

namespace katana::sessions {
namespace {

// The one that the tests of the store in a database pass, and what is Redis's own.
class SessionsInRedis : public redis::RedisTest {
 protected:
  static StoredSession session_of(const std::string& principal, std::int64_t version = 0) {
    SessionRecord record;
    record.principal = principal;
    record.issuer = principal.empty() ? "" : "test";
    record.seen_s = std::time(nullptr);
    record.content = std::string("\0\r\n\xff", 4);
    return {std::make_shared<const SessionRecord>(record), version};
  }
  static SessionKey key_of(const std::string& id) { return crypto::sha256(id); }
  std::optional<StoredSession> load(const std::string& id, std::int64_t later_s = 0) {
    auto found = run(store.load(key_of(id), now + later_s));
    EXPECT_TRUE(found) << found.error().describe();
    return found ? *found : std::nullopt;
  }
  void create(const std::string& id, const std::string& principal, std::int64_t lasts_s = 100) {
    EXPECT_TRUE(run(store.create(key_of(id), session_of(principal), now + lasts_s)));
  }

  redis::RedisServer server;
  redis::Client client = client_of(server);
  RedisSessionStore store{client};
  const std::int64_t now = std::time(nullptr);
};

TEST_F(SessionsInRedis, are_kept_changed_and_ended) {
  EXPECT_FALSE(load("a"));
  create("a", "ada");
  const auto found = load("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 0);
  EXPECT_EQ(found->record->principal, "ada");
  EXPECT_EQ(found->record->content, session_of("ada").record->content);
  EXPECT_FALSE(load("a", 100)) << "by the caller's clock it is over";
  EXPECT_EQ(run(store.update(key_of("a"), session_of("grace", 0), now + 200)), true);
  EXPECT_EQ(run(store.update(key_of("a"), session_of("late", 0), now + 200)), false);
  EXPECT_EQ(load("a", 150)->record->principal, "grace");
  EXPECT_EQ(load("a")->version, 1);
  EXPECT_TRUE(run(store.touch(key_of("a"), now + 10, now + 300)));
  EXPECT_EQ(load("a", 250)->record->seen_s, now + 10);
  EXPECT_EQ(load("a")->version, 1);
  EXPECT_TRUE(run(store.touch(key_of("a"), now + 5, now + 20)));
  EXPECT_TRUE(load("a", 250)) << "seen earlier changes nothing";
  EXPECT_TRUE(run(store.remove(key_of("a"))));
  EXPECT_TRUE(run(store.remove(key_of("a"))));
  EXPECT_FALSE(load("a"));
  EXPECT_EQ(run(store.update(key_of("a"), session_of("x", 1), now + 200)), false);
  EXPECT_TRUE(run(store.touch(key_of("a"), now + 20, now + 300)));
  EXPECT_FALSE(load("a")) << "what is gone stays gone";
  EXPECT_EQ(run(wait(client.command("DBSIZE")))->integer(), 0) << "and leaves nothing behind";
}

TEST_F(SessionsInRedis, of_one_user_are_ended_everywhere_but_here) {
  for (const char* const id : {"a1", "a2", "a3"}) create(id, "ada");
  create("g", "grace");
  create("nobody", "");
  EXPECT_EQ(run(store.remove_all("test", "ada", key_of("a2"))), 2);
  EXPECT_FALSE(load("a1"));
  EXPECT_TRUE(load("a2"));
  EXPECT_TRUE(load("g"));
  EXPECT_TRUE(load("nobody"));
  EXPECT_EQ(run(store.remove_all("", "", std::nullopt)), 0);
  EXPECT_EQ(run(store.remove_all("test", "ada", std::nullopt)), 1);
  // A session that changes its user is found under the new one alone.
  EXPECT_EQ(run(store.update(key_of("g"), session_of("ada", 0), now + 100)), true);
  EXPECT_EQ(run(store.remove_all("test", "grace", std::nullopt)), 0);
  EXPECT_EQ(run(store.remove_all("test", "ada", std::nullopt)), 1);
}

TEST_F(SessionsInRedis, are_not_found_by_what_is_in_redis_and_go_by_themselves) {
  create("the-id", "ada", 50);
  const auto keys = run(wait(client.command("KEYS", "*")));
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->elements().size(), 2u);
  for (const redis::Reply& each : keys->elements()) {
    EXPECT_EQ(each.text().find("the-id"), std::string::npos);
    EXPECT_EQ(each.text().find("ada"), std::string::npos);
    const auto left = run(wait(client.time_to_live(each.text()))).value();
    ASSERT_TRUE(left) << each.text();
    EXPECT_LE(*left, seconds(111));
  }
  // Ids whose time was over long ago leave the list of their user with the next login.
  create("old", "ada", -100);
  create("new", "ada", 50);
  for (const redis::Reply& each : keys->elements()) {
    if (each.text().find("sessions:") == std::string::npos) continue;
    EXPECT_EQ(run(wait(client.command("ZCARD", each.text())))->integer(), 2);
  }
}

TEST_F(SessionsInRedis, are_503_and_nobody_is_logged_out_while_it_is_down) {
  create("a", "ada");
  server.kill();
  const auto found = run(store.load(key_of("a"), now));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Code::unavailable);
  EXPECT_EQ(found.error().message(), "the store of sessions failed");
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
