// The store of sessions, on PostgreSQL: the statements are those of SQLite.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/base/thread/loop.hpp"
#include "katana/identity/sessions/database/session_table.hpp"
#include "katana/identity/sessions/store_suite_test.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace katana::sessions {
namespace {

TEST(SessionsInPostgres, do_what_every_store_does) {
  auto database = database::postgres::open(database::postgres::Cluster::shared().options());
  ASSERT_TRUE(database) << database.error().describe();
  thread::Loop loop;
  DatabaseSessionStore store(*database);
  EXPECT_EQ(loop.run(check_store(store, 1'000'000)), "");
}

TEST(SessionsInPostgres, two_requests_of_a_session_may_meet_in_every_order) {
  auto database = database::postgres::open(database::postgres::Cluster::shared().options());
  ASSERT_TRUE(database) << database.error().describe();
  thread::Loop loop;
  DatabaseSessionStore store(*database);
  for (const Deed deed : deeds) EXPECT_EQ(loop.run(check_requests(store, deed)), "");
}

TEST(SessionsInPostgres, that_are_over_are_deleted) {
  auto database = database::postgres::open(database::postgres::Cluster::shared().options());
  ASSERT_TRUE(database) << database.error().describe();
  thread::Loop loop;
  DatabaseSessionStore store(*database);
  for (const char* const name : {"1", "2"}) {
    SessionWrite write = write_of(name, "ann", 1000);
    write.expires_s = name == std::string("1") ? 2500 : 3000;
    EXPECT_EQ(loop.run(store.compare_and_set(std::move(write))), true);
  }
  EXPECT_EQ(loop.run(store.remove_expired(2500)), 1);
  EXPECT_EQ(loop.run(store.remove_expired(3000)), 1);
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
