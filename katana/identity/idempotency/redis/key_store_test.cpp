#include "katana/identity/idempotency/redis/key_store.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/identity/idempotency/store_suite_test.hpp"
#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::idempotency {
namespace {

class KeysInRedis : public redis::RedisTest {
 protected:
  redis::RedisServer server;
  redis::Client client = client_of(server);
  RedisStore store{client};
};

TEST_F(KeysInRedis, are_claimed_by_one_and_kept_for_all) {
  RedisStore other(client_of(server));
  check_claims(store, other, [this](auto task) { return run(std::move(task)); });
}

TEST_F(KeysInRedis, end_with_their_time) {
  check_ends(
      store, [this](auto task) { return run(std::move(task)); },
      [](Duration time) { std::this_thread::sleep_for(std::chrono::nanoseconds(time.ns)); });
}

TEST_F(KeysInRedis, are_not_found_by_what_is_in_redis) {
  EXPECT_TRUE(run(store.claim(suite_claim("the-key", 1), seconds(50))));
  const auto keys = run(wait(client.command("KEYS", "katana:idempotency:*")));
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->elements().size(), 1u);
  EXPECT_EQ(keys->elements()[0].text().find("the-key"), std::string::npos);
  EXPECT_LE(*run(wait(client.time_to_live(keys->elements()[0].text()))).value(), seconds(50));
}

TEST_F(KeysInRedis, are_unknown_while_it_is_down) {
  EXPECT_TRUE(run(store.claim(suite_claim("a", 1), seconds(50))));
  server.kill();
  const auto found = run(store.claim(suite_claim("a", 2), seconds(50)));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Code::unavailable);
  const auto kept = run(store.keep(suite_claim("a", 1), "reply", seconds(50)));
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code(), Code::unavailable);
  const auto released = run(store.release(suite_claim("a", 1)));
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code(), Code::unavailable);
}

TEST_F(KeysInRedis, are_claimed_for_a_millisecond_at_least) {
  const auto claimed = run(store.claim(suite_claim("a", 1), Duration{}));
  ASSERT_TRUE(claimed) << claimed.error().describe();  // Redis refuses 0
  EXPECT_EQ(claimed->state, ClaimState::claimed);
}

TEST_F(KeysInRedis, have_times_in_milliseconds_rounded_up) {
  const std::pair<Duration, const char*> times[] = {
      {Duration{}, "$1\r\n1\r\n"},
      {milliseconds(1), "$1\r\n1\r\n"},
      {milliseconds(1) + nanoseconds(1), "$1\r\n2\r\n"},
      {seconds(1000), "$7\r\n1000000\r\n"}};
  std::vector<bool> heard;
  {
    redis::FakeRedis fake([&](redis::FakeRedis::Peer& peer, int) {
      if (!peer.greet()) return;
      for (const auto& [time, text] : times) {
        heard.push_back(peer.hear("$4\r\n4711\r\n" + std::string(text)));
        peer.say("*0\r\n");
      }
    });
    redis::Client other = client_of(options_for(fake.url()));
    RedisStore timed(other);
    for (const auto& [time, text] : times) {
      SCOPED_TRACE(text);
      EXPECT_TRUE(run(timed.claim(suite_claim("a", 4711), time)));
    }
  }
  EXPECT_EQ(heard, std::vector<bool>(4, true));
}

TEST_F(KeysInRedis, of_a_server_that_answers_something_else_are_refused) {
  redis::FakeRedis fake([](redis::FakeRedis::Peer& peer, int) {
    if (!peer.greet() || !peer.hear("EVALSHA")) return;
    peer.say("*1\r\n$32\r\n" + std::string(32, 'f') + "\r\n");
    peer.wait_for_end();
  });
  redis::Client other = client_of(options_for(fake.url()));
  RedisStore odd(other);
  EXPECT_EQ(run(odd.claim(suite_claim("a", 1), seconds(50))).error().code(), Code::data_loss);
}

TEST_F(KeysInRedis, that_another_program_wrote_are_refused) {
  EXPECT_TRUE(run(store.claim(suite_claim("a", 1), seconds(50))));
  const auto keys = run(wait(client.command("KEYS", "katana:idempotency:*")));
  const std::string key = keys->elements()[0].text();
  EXPECT_TRUE(run(wait(client.command("HSET", key, "fingerprint", "short"))));
  EXPECT_EQ(run(store.claim(suite_claim("a", 2), seconds(50))).error().code(), Code::data_loss);
}

}  // namespace
}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
