// Keys in SQLite: the tests for every store, and those for a store in the database of the handler.
#include "katana/identity/idempotency/database/key_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "katana/base/thread/loop.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/identity/idempotency/store_suite_test.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/database/temporary_database.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::idempotency {
namespace {

TEST(KeysInSqlite, are_claimed_by_one_and_kept_for_all) {
  testing::TemporaryDatabase database;
  thread::Loop loop;
  DatabaseStore first(database.database()), second(database.database());
  check_claims(first, second, [&](auto task) { return loop.run(std::move(task)); });
}

TEST(KeysInSqlite, end_with_their_time_and_are_deleted) {
  testing::TemporaryDatabase database;
  thread::Loop loop;
  DatabaseStore store(database.database());
  const auto run = [&](auto task) { return loop.run(std::move(task)); };
  check_ends(store, run,
             [](Duration time) { std::this_thread::sleep_for(std::chrono::nanoseconds(time.ns)); });
  EXPECT_TRUE(run(store.claim(suite_claim("e", 1), Duration{})));
  EXPECT_EQ(run(store.remove_expired()), 1);
  EXPECT_EQ(run(store.remove_expired()), 0);
}

TEST(KeysInSqlite, are_in_a_table_that_migrations_may_make) {
  testing::TemporaryDatabase database({DatabaseStore::migration(1)});
  EXPECT_EQ(database.problem(), "");
  thread::Loop loop;
  DatabaseStore store(database.database(), false);
  EXPECT_TRUE(loop.run(store.claim(suite_claim("a", 1), seconds(1))));
}

// A store on a new database, and statements on its table.
class KeyTable : public ::testing::Test {
 protected:
  template <class T>
  T run(Task<T> task) {
    return loop_.run(std::move(task));
  }
  Result<Claimed> claim(std::string_view key, std::int64_t token, DatabaseStore& by) {
    return run(by.claim(suite_claim(key, token), seconds(1000)));
  }
  std::int64_t ask(database::SqlFor<> sql) {
    const auto found = run(ask_for(sql));
    EXPECT_TRUE(found && *found);
    return found && *found ? **found : -1;
  }
  void change(database::SqlFor<> sql) { EXPECT_TRUE(run(do_change(sql))); }
  std::int64_t rows() { return ask("SELECT count(*) FROM katana_idempotency"); }
  void add_expired_rows(std::int64_t count) { EXPECT_TRUE(run(insert_rows(count))); }

  testing::TemporaryDatabase database_;
  DatabaseStore store_{database_.database()};
  thread::Loop loop_;

 private:
  Task<database::Result<std::optional<std::int64_t>>> ask_for(database::SqlFor<> sql) {
    co_return co_await database_->query_one<std::int64_t>(sql);
  }
  Task<database::Result<std::int64_t>> do_change(database::SqlFor<> sql) {
    co_return co_await database_->execute(sql);
  }
  Task<database::Result<std::int64_t>> insert_rows(std::int64_t count) {
    co_return co_await database_->execute(
        "INSERT INTO katana_idempotency (key_hash, fingerprint, token, reply, until_s) "
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) "
        "SELECT 'row' || i, '', 0, '', 1000 FROM n",
        count);
  }
};

TEST_F(KeyTable, of_a_database_that_fails_makes_every_call_unavailable) {
  const auto expect_errors = [this] {
    const auto expect_error = [](const auto& result) {
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code(), Code::unavailable);
    };
    expect_error(claim("a", 1, store_));
    expect_error(run(store_.keep(suite_claim("a", 1), "reply", seconds(1))));
    expect_error(run(store_.release(suite_claim("a", 1))));
    expect_error(run(store_.remove_expired()));
  };
  database_.faults().unavailable();
  expect_errors();  // the table cannot be made
  database_.faults().heal();
  EXPECT_TRUE(claim("a", 1, store_));
  database_.faults().unavailable();
  expect_errors();
}

TEST_F(KeyTable, that_cannot_be_made_is_the_error_of_the_call) {
  const database::Error busy(database::Kind::unavailable, "busy");
  database_.faults().fail_next(busy);
  const auto refused = claim("a", 1, store_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), ::testing::HasSubstr("busy"));
  database_.faults().fail_next(busy);
  const auto removed = run(store_.remove_expired());
  ASSERT_FALSE(removed);
  EXPECT_THAT(removed.error().describe(), ::testing::HasSubstr("busy"));
}

TEST_F(KeyTable, is_made_once) {
  EXPECT_TRUE(claim("a", 1, store_));
  change("DROP TABLE katana_idempotency");
  EXPECT_FALSE(claim("a", 1, store_));
}

TEST_F(KeyTable, has_rows_that_are_not_its_own_named_as_such) {
  EXPECT_TRUE(claim("a", 1, store_));
  const auto expect_refusal = [this] {
    const auto refused = claim("a", 2, store_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::data_loss);
  };
  change("UPDATE katana_idempotency SET fingerprint = '!', reply = ''");
  expect_refusal();
  change("UPDATE katana_idempotency SET fingerprint = 'AAAA'");
  expect_refusal();
  change("UPDATE katana_idempotency SET fingerprint = ''");
  expect_refusal();
  EXPECT_TRUE(claim("b", 1, store_));
  change("UPDATE katana_idempotency SET reply = '!'");
  const auto refused = claim("b", 2, store_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::data_loss);
}

TEST_F(KeyTable, keeps_a_claim_no_shorter_than_its_lease) {
  const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  EXPECT_TRUE(claim("a", 1, store_));
  EXPECT_GE(ask("SELECT until_s FROM katana_idempotency"), now_s + 1000);
  EXPECT_TRUE(run(store_.keep(suite_claim("a", 1), "reply", nanoseconds(1))));
  EXPECT_GE(ask("SELECT until_s FROM katana_idempotency"), now_s + 1);
}

TEST_F(KeyTable, loses_at_most_2000_expired_rows_to_a_claim_and_once_a_minute) {
  EXPECT_EQ(run(store_.remove_expired()), 0);  // the table is there
  add_expired_rows(3100);
  EXPECT_TRUE(claim("a", 1, store_));
  EXPECT_EQ(rows(), 3100 - 2000 + 1);
  EXPECT_TRUE(claim("b", 1, store_));
  EXPECT_EQ(rows(), 1102) << "not yet again";
  DatabaseStore other(database_.database());
  EXPECT_EQ(run(other.remove_expired()), 500);
  EXPECT_TRUE(claim("c", 1, other));
  EXPECT_EQ(rows(), 3);
}

TEST_F(KeyTable, has_a_claim_though_the_removal_failed) {
  EXPECT_EQ(run(store_.remove_expired()), 0);
  add_expired_rows(10);
  database_.faults().fail_next(database::Error(database::Kind::unavailable, "busy"));
  const auto claimed = claim("a", 1, store_);
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claimed->state, ClaimState::claimed);
  EXPECT_EQ(rows(), 11) << "the next minute tries again";
}

TEST_F(KeyTable, is_asked_twice_by_a_claim_when_no_row_has_expired) {
  EXPECT_EQ(run(store_.remove_expired()), 0);
  const auto before = database_->statistics().writes_run;
  EXPECT_TRUE(claim("a", 1, store_));
  EXPECT_EQ(database_->statistics().writes_run, before + 2) << "one removal, one row";
}

TEST_F(KeyTable, whose_row_comes_and_goes_makes_a_claim_unavailable) {
  EXPECT_EQ(run(store_.remove_expired()), 0);
  // The row is never there for the one who looks.
  change("CREATE TRIGGER gone BEFORE INSERT ON katana_idempotency BEGIN SELECT RAISE(IGNORE); END");
  const auto refused = claim("a", 1, store_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unavailable);
  EXPECT_THAT(refused.error().message(), ::testing::HasSubstr("comes and goes"));
}

// A service whose handler keeps its reply in the transaction of its work.
class OrdersInSqlite : public ::testing::Test {
 protected:
  OrdersInSqlite()
      : database_({{"0001_orders.sql",
                    "CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT NOT NULL);"}}) {
    start();
  }
  // Acts as another process on the same database: no memory is shared.
  void start() {
    server_.reset();
    Options options;
    options.scope = Scope::everyone;
    auto keys = Idempotency::make(options, std::make_shared<DatabaseStore>(database_.database()));
    keys_.emplace(*keys);
    Router router;
    Group group = router.group("");
    group.use(keys_->middleware());
    group.post("/orders", [this](FromContext<IdempotentRequest> request) {
      return create(std::move(request));
    });
    router.get("/count", [this]() -> Task<Reply> {
      const auto count = co_await database_->query_one<std::int64_t>("SELECT count(*) FROM orders");
      co_return Reply::text(format_text("{}", count && *count ? **count : -1));
    });
    server_.emplace(std::move(router).build());
  }
  Task<Result<Reply>> create(FromContext<IdempotentRequest> request) {
    std::optional<Reply> reply;
    auto body = [&](database::Transaction& transaction) -> Task<Result<void>> {
      const auto made = co_await transaction.execute("INSERT INTO orders (what) VALUES ('book')");
      if (!made) co_return std::unexpected(made.error());
      reply.emplace(Reply(201).with("Location", "/orders/1"));
      if (fails_to_keep) {
        database_.faults().fail_next(database::Error(database::Kind::unavailable, "busy"));
      }
      const Result<void> kept = co_await keep(transaction, *request, *reply);
      if (!kept) co_return kept;
      if (fails_in_transaction) co_return fail(Code::unavailable, "rolled back");
      co_return {};
    };
    const Result<void> done = co_await database::transact(database_.database(), body);
    if (!done) co_return std::unexpected(done.error());
    if (dies_after_commit) co_await net::sleep_for(seconds(1000));
    co_return *std::move(reply);
  }
  testing::TestReply post() {
    return server_->post("/orders", "{}", {{"Idempotency-Key", "\"k\""}});
  }
  std::string count() { return server_->get("/count").content(); }

  testing::TemporaryDatabase database_;
  std::optional<Idempotency> keys_;
  std::optional<testing::TestServer> server_;
  bool fails_in_transaction = false, fails_to_keep = false, dies_after_commit = false;
};

TEST_F(OrdersInSqlite, a_reply_is_repeated_by_another_process) {
  EXPECT_EQ(post().status(), 201u);
  start();
  const testing::TestReply again = post();
  EXPECT_EQ(again.status(), 201u);
  EXPECT_EQ(again.header("Location"), "/orders/1");
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(count(), "1");
}

TEST_F(OrdersInSqlite, a_reply_is_repeated_until_its_time_is_over) {
  EXPECT_EQ(post().status(), 201u);
  server_->advance(keys_->options().kept - seconds(2));
  EXPECT_EQ(post().header("Idempotent-Replayed"), "true");
  server_->advance(seconds(4));
  EXPECT_FALSE(post().header("Idempotent-Replayed"));
  EXPECT_EQ(count(), "2");
}

TEST_F(OrdersInSqlite, a_process_that_dies_after_the_commit_has_kept_its_reply) {
  dies_after_commit = true;
  {
    auto lost = server_->begin("POST", "/orders", "{}", {{"Idempotency-Key", "\"k\""}});
    server_->advance(seconds(1));
    start();
  }
  EXPECT_EQ(post().header("Location"), "/orders/1");
  EXPECT_EQ(count(), "1");
}

TEST_F(OrdersInSqlite, what_is_rolled_back_has_no_reply_and_is_carried_out_again) {
  fails_in_transaction = true;
  EXPECT_EQ(post().status(), 503u);
  EXPECT_EQ(count(), "0");
  fails_in_transaction = false;
  EXPECT_EQ(post().status(), 201u);
  EXPECT_EQ(post().header("Idempotent-Replayed"), "true");
  EXPECT_EQ(count(), "1");
  EXPECT_EQ(keys_->statistics().kept, 1u) << "by the handler, and not lost";
  EXPECT_EQ(keys_->statistics().lost, 0u);
}

TEST_F(OrdersInSqlite, a_reply_that_cannot_be_kept_undoes_the_work) {
  fails_to_keep = true;
  EXPECT_EQ(post().status(), 503u);
  fails_to_keep = false;
  EXPECT_EQ(count(), "0");
  EXPECT_EQ(post().status(), 201u);
  EXPECT_EQ(count(), "1");
}

TEST_F(OrdersInSqlite, a_handler_that_lost_its_claim_changes_nothing) {
  const auto steal = [this]() -> Task<Reply> {
    const auto changed =
        co_await database_->execute("UPDATE katana_idempotency SET token = token + 1");
    co_return Reply(changed ? 204 : 500);
  };
  Router router;
  router.post("/steal", steal);
  testing::TestServer thief(std::move(router).build());
  Options options;
  options.scope = Scope::everyone;
  auto keys = Idempotency::make(options, std::make_shared<DatabaseStore>(database_.database()));
  Router stolen;
  stolen.use(keys->middleware());
  stolen.post("/orders", [&](FromContext<IdempotentRequest> request) -> Task<Result<Reply>> {
    co_await net::sleep_for(seconds(5));
    co_return co_await create(std::move(request));
  });
  testing::TestServer server(std::move(stolen).build());
  auto pending = server.begin("POST", "/orders", "{}", {{"Idempotency-Key", "\"k\""}});
  server.advance(seconds(1));
  EXPECT_EQ(thief.post("/steal", "").status(), 204u);
  EXPECT_EQ(pending.reply().status(), 409u);
  EXPECT_EQ(count(), "0");
}

}  // namespace
}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
