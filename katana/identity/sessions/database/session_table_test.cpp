#include "katana/identity/sessions/database/session_table.hpp"

#include <gtest/gtest.h>

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
