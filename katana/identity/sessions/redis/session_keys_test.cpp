#include "katana/identity/sessions/redis/session_keys.hpp"

#include <ctime>
#include <optional>
#include <utility>

#include "katana/identity/sessions/store_suite_test.hpp"
#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::sessions {
namespace {

class SessionsInRedis : public redis::RedisTest {
 protected:
  static SessionKey key_of(const std::string& id) { return crypto::sha256(id); }
  void create(const std::string& id, const std::string& principal, std::int64_t lasts_s = 100) {
    SessionWrite write = write_of(id, principal, now);
    write.expires_s = now + lasts_s;
    EXPECT_EQ(run(store.compare_and_set(std::move(write))), true);
  }

  redis::RedisServer server;
  redis::Client client = client_of(server);
  RedisSessionStore store{client};
  const std::int64_t now = std::time(nullptr);
};

TEST_F(SessionsInRedis, do_what_every_store_does) {
  EXPECT_EQ(run(check_store(store, now)), "");
  EXPECT_EQ(run(wait(client.command("DBSIZE")))->integer(), 0) << "and leave nothing behind";
}

TEST_F(SessionsInRedis, two_requests_of_a_session_may_meet_in_every_order) {
  for (const Deed deed : deeds) EXPECT_EQ(run(check_requests(store, deed)), "");
  EXPECT_EQ(run(wait(client.command("DBSIZE")))->integer(), 0) << "and leave nothing behind";
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
  // The next login of a user removes the ids of ended sessions from the list.
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
  const auto expect_error = [](const auto& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::unavailable);
  };
  expect_error(run(store.compare_and_set(write_of("a", "ada", now, 0))));
  expect_error(run(store.touch(key_of("a"), 0, now + 1, now + 100)));
  expect_error(run(store.remove(key_of("a"))));
  expect_error(run(store.remove_all("test", "ada")));
  expect_error(run(store.remove_others("test", "ada", key_of("a"), 0)));
}

TEST_F(SessionsInRedis, without_a_user_have_no_others) {
  create("a", "");
  create("b", "");
  EXPECT_EQ(run(store.remove_others("", "", key_of("a"), 0)).value(), std::nullopt);
  EXPECT_EQ(run(store.remove_all("", "")).value(), 0);
  EXPECT_TRUE(run(store.load(key_of("b"), now)).value());
  server.kill();
  EXPECT_EQ(run(store.remove_all("", "")).value(), 0) << "which asks nothing";
}

TEST_F(SessionsInRedis, of_a_server_that_answers_something_else_are_none) {
  redis::FakeRedis fake([](redis::FakeRedis::Peer& peer, int) {
    if (!peer.greet()) return;
    if (peer.hear("HMGET")) peer.say("*1\r\n$1\r\nx\r\n");
    while (peer.hear("EVALSHA")) peer.say("+OK\r\n");
  });
  redis::Client other = client_of(options_for(fake.url()));
  RedisSessionStore odd(other);
  EXPECT_EQ(run(odd.load(key_of("a"), now)).value(), std::nullopt);
  EXPECT_EQ(run(odd.remove_all("test", "ada")).value(), 0);
  EXPECT_EQ(run(odd.remove_others("test", "ada", key_of("a"), 0)).value(), std::nullopt);
}

TEST_F(SessionsInRedis, that_another_program_wrote_are_none) {
  const std::pair<const char*, const char*> fields[] = {{"seen", ""},
                                                        {"seen", "12x"},
                                                        {"expires", "99999999999999999999"},
                                                        {"version", "1.5"},
                                                        {"record", "\xff"}};
  for (const auto& [field, text] : fields) {
    SCOPED_TRACE(text);
    create("a", "ada");
    const auto keys = run(wait(client.command("KEYS", "*session:*")));
    ASSERT_TRUE(keys);
    ASSERT_EQ(keys->elements().size(), 1u);
    EXPECT_TRUE(run(store.load(key_of("a"), now)).value());
    EXPECT_TRUE(run(wait(client.command("HSET", keys->elements()[0].text(), field, text))));
    EXPECT_FALSE(run(store.load(key_of("a"), now)).value());
    EXPECT_TRUE(run(wait(client.command("FLUSHALL"))));
  }
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
