#include "katana/identity/sessions/database/session_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/base/thread/loop.hpp"
#include "katana/identity/sessions/sessions_fixture_test.hpp"
#include "katana/identity/sessions/store_suite_test.hpp"
#include "katana/testing/database/temporary_database.hpp"

namespace katana::sessions {
namespace {

class SessionsInDatabase : public ::testing::Test {
 protected:
  SessionsInDatabase()
      : store_(std::make_shared<DatabaseSessionStore>(database_.database())),
        server_(service_with(Sessions::in_store({}, store_))) {}
  // The content of the table: the number of rows, or a column of the only row.
  std::string seen(std::string_view what) {
    Router router;
    router.get("/count", [this]() -> Task<Reply> {
      const auto count =
          co_await database_->query_one<std::int64_t>("SELECT count(*) FROM katana_sessions");
      co_return Reply::text(format_text("{}", count && *count ? **count : -1));
    });
    router.get("/id", [this]() -> Task<Reply> {
      const auto id =
          co_await database_->query_one<std::string>("SELECT id_hash FROM katana_sessions");
      co_return Reply::text(Text(id && *id ? **id : "none"));
    });
    router.get("/principal", [this]() -> Task<Reply> {
      const auto principal =
          co_await database_->query_one<std::string>("SELECT principal FROM katana_sessions");
      co_return Reply::text(Text(principal && *principal ? **principal : "none"));
    });
    testing::TestServer server(std::move(router).build());
    return server.get(what).content();
  }

  testing::TemporaryDatabase database_;
  std::shared_ptr<DatabaseSessionStore> store_;
  testing::TestServer server_;
};

TEST(SessionTable, does_what_every_store_does) {
  testing::TemporaryDatabase database;
  DatabaseSessionStore store(database.database());
  thread::Loop loop;
  EXPECT_EQ(loop.run(check_store(store, 1'000'000)), "");
}

TEST(SessionTable, two_requests_of_a_session_may_meet_in_every_order) {
  testing::TemporaryDatabase database;
  DatabaseSessionStore store(database.database());
  thread::Loop loop;
  for (const Deed deed : deeds) EXPECT_EQ(loop.run(check_requests(store, deed)), "");
}

// A store on a new database, and its calls.
struct StoreCalls {
  std::vector<std::string> errors_of_each() {
    std::vector<std::string> errors;
    const auto note = [&errors](const auto& result) {
      errors.push_back(result ? "" : result.error().describe());
      if (!result) EXPECT_EQ(result.error().code(), Code::unavailable);
    };
    note(loop.run(store.load(key, 1000)));
    note(loop.run(store.compare_and_set(write_of("a", "ada", 1000))));
    note(loop.run(store.compare_and_set(write_of("a", "ada", 1000, 0))));
    note(loop.run(store.touch(key, 1, 1001, 1100)));
    note(loop.run(store.remove_others("test", "ada", key, 1)));
    note(loop.run(store.remove(key)));
    note(loop.run(store.remove_all("test", "ada")));
    note(loop.run(store.remove_expired(1000)));
    return errors;
  }
  std::int64_t rows() {
    const auto count = loop.run(count_rows());
    EXPECT_TRUE(count && *count);
    return count && *count ? **count : -1;
  }
  // Rows that expire at the second 1000.
  void add_rows(std::int64_t count) { EXPECT_TRUE(loop.run(insert_rows(count))); }
  void drop() { EXPECT_TRUE(loop.run(drop_table())); }
  bool begin(Bytes name, std::int64_t now_s) {
    const auto written = loop.run(store.compare_and_set(write_of(name, "ada", now_s)));
    EXPECT_TRUE(written) << written.error().describe();
    return written.value_or(false);
  }

  const SessionKey key = crypto::sha256("a");
  testing::TemporaryDatabase database;
  DatabaseSessionStore store{database.database()};
  thread::Loop loop;

 private:
  Task<database::Result<std::optional<std::int64_t>>> count_rows() {
    co_return co_await database->query_one<std::int64_t>("SELECT count(*) FROM katana_sessions");
  }
  Task<database::Result<std::int64_t>> insert_rows(std::int64_t count) {
    co_return co_await database->execute(
        "INSERT INTO katana_sessions (id_hash, principal, record, seen_s, expires_s, version) "
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) "
        "SELECT 'row' || i, '', '', 900, 1000, 0 FROM n",
        count);
  }
  Task<database::Result<std::int64_t>> drop_table() {
    co_return co_await database->execute("DROP TABLE katana_sessions");
  }
};

TEST(SessionTable, every_call_of_a_database_that_fails_says_so) {
  StoreCalls calls;
  calls.database.faults().unavailable();
  const auto expect_errors = [&] {
    for (const std::string& error : calls.errors_of_each()) {
      EXPECT_THAT(error, ::testing::HasSubstr("the store of sessions failed"));
    }
  };
  expect_errors();  // the table cannot be made
  calls.database.faults().heal();
  EXPECT_THAT(calls.errors_of_each(), ::testing::Each(std::string()));
  calls.database.faults().unavailable();
  expect_errors();
}

TEST(SessionTable, any_call_may_be_the_first_and_the_table_is_made_once) {
  const auto first = [](auto call) {
    StoreCalls calls;
    const auto result = calls.loop.run(call(calls));
    EXPECT_TRUE(result) << result.error().describe();
    calls.drop();
    EXPECT_FALSE(calls.loop.run(call(calls))) << "it is not made again";
    StoreCalls failing;
    failing.database.faults().fail_next(database::Error(database::Kind::unavailable, "busy"));
    const auto refused = failing.loop.run(call(failing));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().describe(), ::testing::HasSubstr("busy"));
  };
  first([](StoreCalls& of) { return of.store.load(of.key, 1000); });
  first([](StoreCalls& of) { return of.store.compare_and_set(write_of("a", "ada", 1000)); });
  first([](StoreCalls& of) { return of.store.touch(of.key, 0, 1000, 1100); });
  first([](StoreCalls& of) { return of.store.remove(of.key); });
  first([](StoreCalls& of) { return of.store.remove_all("test", "ada"); });
  first([](StoreCalls& of) { return of.store.remove_others("test", "ada", of.key, 0); });
  first([](StoreCalls& of) { return of.store.remove_expired(1000); });
}

TEST(SessionTable, a_session_without_a_user_has_no_others) {
  StoreCalls calls;
  const auto begin = [&](Bytes name) {
    EXPECT_TRUE(calls.loop.run(calls.store.compare_and_set(write_of(name, "", 1000))).value());
  };
  begin("a");
  begin("b");
  EXPECT_EQ(calls.loop.run(calls.store.remove_others("", "", calls.key, 0)).value(), std::nullopt);
  EXPECT_EQ(calls.loop.run(calls.store.remove_all("", "")).value(), 0);
  EXPECT_EQ(calls.rows(), 2);
}

TEST(SessionTable, a_new_session_removes_at_most_2000_expired_rows_once_a_minute) {
  StoreCalls calls;
  ASSERT_TRUE(calls.begin("first", 800));
  calls.add_rows(2600);
  EXPECT_TRUE(calls.begin("a", 1000));  // 'first' has expired, too
  EXPECT_EQ(calls.rows(), 2600 + 2 - 2000);
  EXPECT_TRUE(calls.begin("b", 1059));
  EXPECT_EQ(calls.rows(), 603) << "not yet again";
  EXPECT_TRUE(calls.begin("c", 1060));
  EXPECT_EQ(calls.rows(), 3);
  calls.add_rows(600);
  EXPECT_EQ(calls.loop.run(calls.store.remove_expired(999)).value(), 0);
  EXPECT_EQ(calls.loop.run(calls.store.remove_expired(1000)).value(), 500);
  EXPECT_EQ(calls.loop.run(calls.store.remove_expired(1000)).value(), 100);
}

TEST(SessionTable, a_removal_that_fails_is_left_to_the_next_minute) {
  StoreCalls calls;
  ASSERT_TRUE(calls.begin("first", 900));
  calls.add_rows(10);
  calls.database.faults().fail_next(database::Error(database::Kind::unavailable, "busy"));
  EXPECT_TRUE(calls.begin("a", 1000)) << "the session begins";
  EXPECT_EQ(calls.rows(), 12);
  EXPECT_TRUE(calls.begin("b", 1060));
  EXPECT_EQ(calls.rows(), 2);
}

TEST_F(SessionsInDatabase, are_kept_changed_and_ended) {
  Browser browser(server_);
  browser.post("/notes/a");
  browser.post("/notes/b");
  EXPECT_EQ(browser.get("/notes").content(), "a;b;");
  const std::string before = browser.cookie();
  browser.post("/login/ann");
  EXPECT_EQ(browser.get("/account").content(), "ann by session reads");
  EXPECT_EQ(browser.get("/notes").content(), "a;b;");
  EXPECT_EQ(seen("/count"), "1");
  browser.post("/logout");
  EXPECT_EQ(browser.get("/account").status(), 401u);
  EXPECT_EQ(seen("/count"), "0");
}

TEST_F(SessionsInDatabase, are_not_found_by_what_is_in_the_table) {
  Browser browser(server_), thief(server_);
  browser.post("/login/ann");
  const std::string id = browser.cookie().substr(browser.cookie().find('=') + 1);
  const std::string stored = seen("/id");
  EXPECT_EQ(stored.size(), 43u);
  EXPECT_NE(stored, id);
  thief.cookie() = "__Host-session=" + stored;
  EXPECT_EQ(thief.get("/account").status(), 401u);
  EXPECT_EQ(seen("/principal").find("ann"), std::string::npos);
}

TEST_F(SessionsInDatabase, of_one_user_are_ended_everywhere_but_here) {
  Browser here(server_), there(server_), other(server_);
  here.post("/login/ann");
  there.post("/login/ann");
  other.post("/login/bob");
  EXPECT_EQ(here.post("/end_others").content(), "1");
  EXPECT_EQ(here.get("/account").status(), 200u);
  EXPECT_EQ(there.get("/account").status(), 401u);
  EXPECT_EQ(other.get("/account").status(), 200u);
}

TEST_F(SessionsInDatabase, that_are_over_are_deleted_when_others_begin) {
  Browser first(server_), second(server_), third(server_);
  first.post("/login/ann");
  second.post("/notes/a");
  server_.advance(seconds(20 * 60));
  first.get("/account");
  server_.advance(seconds(15 * 60));
  EXPECT_EQ(second.get("/notes").content(), "");
  third.post("/login/cid");
  EXPECT_EQ(seen("/count"), "2");
  EXPECT_EQ(first.get("/account").status(), 200u);
}

TEST_F(SessionsInDatabase, are_503_and_nobody_is_logged_out_while_it_fails) {
  Browser browser(server_);
  browser.post("/login/ann");
  database_.faults().unavailable();
  const auto reply = browser.get("/account");
  EXPECT_EQ(reply.status(), 503u);
  EXPECT_FALSE(reply.header("Set-Cookie"));
  EXPECT_EQ(browser.post("/login/bob").status(), 503u);
  database_.faults().heal();
  EXPECT_EQ(browser.get("/account").content(), "ann by session reads");
}

TEST(SessionMigration, makes_the_table_that_the_store_uses) {
  testing::TemporaryDatabase database({DatabaseSessionStore::migration(1)});
  ASSERT_EQ(database.problem(), "");
  auto store = std::make_shared<DatabaseSessionStore>(database.database(), false);
  testing::TestServer server(service_with(Sessions::in_store({}, store)));
  Browser browser(server);
  browser.post("/login/ann");
  EXPECT_EQ(browser.get("/account").status(), 200u);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
