// Tables that several sessions make at once, each at its first use of a fresh database.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/when.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/identity/idempotency/database/key_table.hpp"
#include "katana/identity/sessions/database/session_table.hpp"
#include "katana/stores/database/make_missing.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"
#include "katana/stores/jobs/database/database_lock.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"

namespace katana::database {
namespace {

constexpr int instances = 8;

class FirstUse : public ::testing::Test {
 protected:
  static Database open(postgres::Options options = postgres::Cluster::shared().options()) {
    options.connections_max = instances;
    auto opened = postgres::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().describe();
    return *std::move(opened);
  }

  thread::Loop loop_;
  const postgres::Options options_ = postgres::Cluster::shared().options();
  Database first_ = open(options_);
  // Apart, because a statement may be sent behind another one on a connection.
  Database second_ = open(options_);
};

constexpr SqlFor<> table("CREATE TABLE IF NOT EXISTS notes (id BIGINT PRIMARY KEY, text TEXT)");
constexpr SqlFor<> index_of_text("CREATE INDEX IF NOT EXISTS notes_text ON notes (text)");
constexpr SqlFor<> refused("CREATE TABLE IF NOT EXISTS notes (id NO_SUCH_TYPE)");

// Until another session waits for a lock of a transaction.
Task<Result<void>> until_one_waits(const Database& database) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < deadline) {
    const Result<std::optional<std::int64_t>> waiting = co_await database.query_one<std::int64_t>(
        "SELECT count(*) FROM pg_locks WHERE NOT granted");
    if (!waiting) co_return std::unexpected(waiting.error());
    if (waiting->value_or(0) > 0) co_return {};
  }
  co_return fail(Kind::timeout, "no session waits");
}

Task<Result<void>> commit_once_one_waits(Database& database, Transaction& transaction) {
  const Result<void> waits = co_await until_one_waits(database);
  if (!waits) co_return std::unexpected(waits.error());
  const Result<std::int64_t> committed = co_await transaction.commit();
  if (!committed) co_return std::unexpected(committed.error());
  co_return {};
}

Task<Result<void>> make_once(const Database& database) {
  for (const SqlFor<>& statement : {table, index_of_text}) {
    const Result<std::int64_t> made = co_await database.execute(statement);
    if (!made) co_return std::unexpected(made.error());
  }
  co_return {};
}

// Makes `statement` in a transaction, and commits once the other waits for it: what becomes of
// both.
Task<std::vector<Result<void>>> both(Database& first, Database& second, SqlFor<> statement,
                                     bool again) {
  Result<Transaction> transaction = co_await first.begin();
  EXPECT_TRUE(transaction) << transaction.error().describe();
  const Result<std::int64_t> made = co_await transaction->execute(statement);
  EXPECT_TRUE(made) << made.error().describe();
  const Queries& queries = second;
  std::vector<SqlFor<>> statements = {table, index_of_text};
  std::vector<Task<Result<void>>> tasks;
  tasks.push_back(commit_once_one_waits(first, *transaction));
  tasks.push_back(again ? make_missing(queries, std::move(statements)) : make_once(second));
  co_return co_await when_all(std::move(tasks));
}

TEST_F(FirstUse, of_a_table_that_another_session_is_making_waits_for_it) {
  const std::vector<Result<void>> made = loop_.run(both(first_, second_, table, true));
  EXPECT_TRUE(made[0]) << made[0].error().describe();
  EXPECT_TRUE(made[1]) << made[1].error().describe();
}

TEST_F(FirstUse, of_an_index_that_another_session_is_making_waits_for_it) {
  const Queries& queries = first_;
  ASSERT_TRUE(loop_.run(make_missing(queries, {table})));
  const std::vector<Result<void>> made = loop_.run(both(first_, second_, index_of_text, true));
  EXPECT_TRUE(made[0]) << made[0].error().describe();
  EXPECT_TRUE(made[1]) << made[1].error().describe();
}

// Shows why make_missing() is needed. Where PostgreSQL no longer does this, it can go.
TEST_F(FirstUse, without_a_second_attempt_is_refused) {
  const std::vector<Result<void>> made = loop_.run(both(first_, second_, table, false));
  EXPECT_TRUE(made[0]) << made[0].error().describe();
  ASSERT_FALSE(made[1]);
  EXPECT_EQ(made[1].error().kind(), Kind::constraint_violation) << made[1].error().describe();
}

TEST_F(FirstUse, of_what_the_database_refuses_ends_with_its_error) {
  const Queries& queries = first_;
  const Result<void> made = loop_.run(make_missing(queries, {refused}));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind(), Kind::syntax);
  EXPECT_NE(made.error().describe().find("42704"), std::string::npos) << made.error().describe();
}

// One store of each kind, as an instance of a program has them, and their first calls.
class Instance {
 public:
  explicit Instance(Database& database)
      : sessions_(database), keys_(database), queue_(database, {}), lock_(database) {}

  std::vector<Task<std::string>> calls(int number) {
    std::vector<Task<std::string>> tasks;
    tasks.push_back(open_session(sessions_, number));
    tasks.push_back(claim_key(keys_, number));
    tasks.push_back(enqueue(queue_, number));
    tasks.push_back(lock(lock_, number));
    return tasks;
  }

 private:
  static Task<std::string> open_session(sessions::DatabaseSessionStore& store, int number) {
    sessions::SessionWrite write;
    write.key = crypto::sha256(std::to_string(number));
    write.record = std::make_shared<sessions::SessionRecord>();
    write.expires_s = 2000;
    const katana::Result<bool> made = co_await store.compare_and_set(std::move(write));
    if (!made) co_return made.error().describe();
    co_return *made ? "" : "there is one already";
  }
  static Task<std::string> claim_key(idempotency::DatabaseStore& store, int number) {
    idempotency::Claim claim;
    claim.token = number;
    claim.key.octets[0] = static_cast<unsigned char>(number);
    const katana::Result<idempotency::Claimed> made = co_await store.claim(claim, seconds(60));
    co_return made ? "" : made.error().describe();
  }
  static Task<std::string> enqueue(queue::JobQueue& queue, int number) {
    std::string name = "mail", payload = std::to_string(number);
    const queue::EnqueueOptions options;
    const katana::Result<queue::Enqueued> made =
        co_await queue.enqueue_json(std::move(name), std::move(payload), options);
    co_return made ? "" : made.error().describe();
  }
  static Task<std::string> lock(jobs::DatabaseJobLock& lock, int number) {
    jobs::JobClaim claim;
    claim.job = "job" + std::to_string(number);
    const katana::Result<bool> made = co_await lock.try_acquire(std::move(claim));
    co_return made ? "" : made.error().describe();
  }

  sessions::DatabaseSessionStore sessions_;
  idempotency::DatabaseStore keys_;
  queue::JobQueue queue_;
  jobs::DatabaseJobLock lock_;
};

TEST_F(FirstUse, of_all_stores_by_many_instances_at_once_succeeds_for_each) {
  for (int round = 0; round < 5; ++round) {
    Database database = open();
    std::vector<std::unique_ptr<Instance>> made;
    std::vector<Task<std::string>> tasks;
    for (int number = 0; number < instances; ++number) {
      made.push_back(std::make_unique<Instance>(database));
      for (Task<std::string>& each : made.back()->calls(number)) tasks.push_back(std::move(each));
    }
    const auto run = [&]() -> Task<std::vector<std::string>> {
      co_return co_await when_all(std::move(tasks));
    };
    for (const std::string& failure : loop_.run(run())) EXPECT_EQ(failure, "");
  }
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
