// A program's database in virtual time: TemporaryDatabase below handlers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/testing/database/temporary_database.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

using ::testing::HasSubstr;

class DatabaseInTurnsTest : public ::testing::Test {
 protected:
  Result<Service> make_service() {
    Router router;
    router.development();
    database::Database& db = database_.database();
    router.post("/rows", [&db]() -> Task<Result<Reply>> {
      auto added = co_await db.execute("INSERT INTO t (v) VALUES (1)");
      if (!added) co_return std::unexpected(added.error());
      co_return Reply::no_content();
    });
    // Holds the writer for ten seconds.
    router.post("/held", [&db]() -> Task<Result<Reply>> {
      auto transaction = co_await db.begin();
      if (!transaction) co_return std::unexpected(transaction.error());
      co_await net::sleep_for(seconds(1));
      auto done = co_await transaction->execute("INSERT INTO t (v) VALUES (2)");
      if (!done) co_return std::unexpected(done.error());
      auto committed = co_await transaction->commit();
      if (!committed) co_return std::unexpected(committed.error());
      co_return Reply::no_content();
    });
    router.post("/forgotten", [&db]() -> Task<Result<Reply>> {
      auto transaction = co_await db.begin();
      co_await net::sleep_for(seconds(25));
      auto committed = co_await transaction->commit();
      if (!committed) co_return std::unexpected(committed.error());
      co_return Reply::no_content();
    });
    router.get("/rows", [&db]() -> Task<Result<Reply>> {
      auto rows = co_await db.within(seconds(5)).query<std::int64_t>("SELECT v FROM t ORDER BY id");
      if (!rows) co_return std::unexpected(rows.error());
      std::string text;
      for (const std::int64_t each : *rows) text += std::to_string(each);
      co_return Reply::text(Text(std::move(text)));
    });
    router.get("/stream", [&db]() -> Task<Result<Reply>> {
      std::int64_t sum = 0;
      auto rows = db.stream<std::int64_t>(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
          "SELECT i FROM n");
      for (;;) {
        auto row = co_await rows.next();
        if (!row) co_return std::unexpected(row.error());
        if (!*row) break;
        sum += **row;
      }
      co_return Reply::text(Text(std::to_string(sum)));
    });
    return std::move(router).build();
  }

  TemporaryDatabase database_{
      {"0001_t.sql", "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER) STRICT"}};
  TestServer server_{make_service()};
};

TEST_F(DatabaseInTurnsTest, time_stands_still_while_it_works) {
  const Instant before = server_.now();
  for (int count = 0; count < 20; ++count) EXPECT_EQ(server_.post("/rows", "").status(), 204u);
  EXPECT_EQ(server_.get("/rows").content(), std::string(20, '1'));
  EXPECT_EQ(server_.get("/stream").content(), "500500");
  EXPECT_LT(server_.now(), before + milliseconds(100));
}

TEST_F(DatabaseInTurnsTest, a_write_waits_for_a_transaction_in_virtual_time) {
  const auto began = std::chrono::steady_clock::now();
  PendingReply held = server_.begin("POST", "/held");
  EXPECT_EQ(server_.post("/rows", "").status(), 204u);
  EXPECT_EQ(held.reply().status(), 204u);
  EXPECT_EQ(server_.get("/rows").content(), "21");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST_F(DatabaseInTurnsTest, its_own_limits_of_time_are_virtual) {
  PendingReply forgotten = server_.begin("POST", "/forgotten");  // transaction_hold is 5 s
  const TestReply refused = server_.post("/rows", "");           // wait_max is 2 s
  EXPECT_EQ(refused.status(), 503u) << refused;
  EXPECT_THAT(refused.content(), HasSubstr("waited 2000 ms"));
  server_.advance(seconds(4));
  EXPECT_EQ(server_.post("/rows", "").status(), 204u);
  EXPECT_THAT(forgotten.reply().content(), HasSubstr("the transaction is over"));
}

TEST_F(DatabaseInTurnsTest, a_slow_database_is_slow_in_virtual_time) {
  database_.faults().delay(seconds(2));
  const Instant before = server_.now();
  EXPECT_EQ(server_.post("/rows", "").status(), 204u);
  EXPECT_GE(server_.now(), before + seconds(2));
  database_.faults().delay(seconds(10));  // the deadline of the call is 5 s
  const TestReply late = server_.get("/rows");
  EXPECT_THAT(late.content(), HasSubstr("deadline exceeded"));
  // A client that leaves meanwhile takes its call with it.
  {
    PendingReply left = server_.begin_get("/rows");
  }
  database_.faults().heal();
  EXPECT_EQ(server_.get("/rows").content(), "1");
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
