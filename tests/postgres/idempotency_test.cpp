// Idempotency keys in PostgreSQL: the statements have their own text there, and a server's
// clock.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "katana/base/coroutine/when.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/identity/idempotency/database/key_table.hpp"
#include "katana/identity/idempotency/store_suite_test.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace katana::idempotency {
namespace {

class KeysInPostgres : public ::testing::Test {
 protected:
  KeysInPostgres() : database_(open(options_)) {}
  static database::Database open(database::postgres::Options options) {
    options.connections_max = 8;
    auto opened = database::postgres::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().describe();
    return *std::move(opened);
  }

  thread::Loop loop_;
  database::postgres::Options options_ = database::postgres::Cluster::shared().options();
  database::Database database_;
};

TEST_F(KeysInPostgres, are_claimed_by_one_and_kept_for_all) {
  DatabaseStore first(database_), second(database_);
  check_claims(first, second, [this](auto task) { return loop_.run(std::move(task)); });
}

TEST_F(KeysInPostgres, end_with_their_time_and_are_deleted) {
  DatabaseStore store(database_);
  const auto run = [this](auto task) { return loop_.run(std::move(task)); };
  check_ends(store, run,
             [](Duration time) { std::this_thread::sleep_for(std::chrono::nanoseconds(time.ns)); });
  EXPECT_TRUE(run(store.claim(suite_claim("e", 1), Duration{})));
  EXPECT_EQ(run(store.remove_expired()), 1);
}

TEST_F(KeysInPostgres, of_many_claims_at_a_time_one_is_held) {
  DatabaseStore store(database_);
  ASSERT_TRUE(loop_.run(store.remove_expired())) << "makes the table";
  for (int round = 0; round < 20; ++round) {
    std::vector<Task<Result<Claimed>>> tasks;
    for (int token = 1; token <= 8; ++token) {
      tasks.push_back(store.claim(suite_claim("k" + std::to_string(round), token), seconds(100)));
    }
    const auto all = [&]() -> Task<std::vector<Result<Claimed>>> {
      co_return co_await when_all(std::move(tasks));
    };
    int held = 0;
    for (const Result<Claimed>& each : loop_.run(all())) {
      ASSERT_TRUE(each) << each.error().describe();
      held += each->state == ClaimState::claimed;
    }
    EXPECT_EQ(held, 1);
  }
}

}  // namespace
}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
