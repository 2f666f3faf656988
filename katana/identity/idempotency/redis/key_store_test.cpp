#include "katana/identity/idempotency/redis/key_store.hpp"

#include <chrono>
#include <thread>

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
