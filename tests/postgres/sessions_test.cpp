// The store of sessions, on PostgreSQL: the statements are those of SQLite.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/database/postgres/cluster_test.hpp"
#include "katana/database/postgres/postgres.hpp"
#include "katana/service/sessions/database/session_table.hpp"
#include "katana/thread/loop.hpp"

namespace katana::sessions {
namespace {

StoredSession session_of(const std::string& user, std::int64_t version = 0) {
  auto record = std::make_shared<SessionRecord>();
  record->principal = user;
  record->seen_s = 1000;
  return {std::move(record), version};
}

Task<std::string> walk(DatabaseSessionStore& store) {
  const SessionKey one = crypto::sha256("1"), two = crypto::sha256("2");
  const Result<void> first = co_await store.create(one, session_of("ann"), 2000);
  if (!first) co_return first.error().describe();
  const Result<void> second = co_await store.create(two, session_of("ann"), 3000);
  if (!second) co_return second.error().describe();
  const Result<bool> changed = co_await store.update(one, session_of("ann"), 2000);
  const Result<bool> again = co_await store.update(one, session_of("ann"), 2000);
  if (!changed || !*changed || !again || *again) co_return "a version does not count";
  const Result<void> touched = co_await store.touch(one, 1500, 2500);
  if (!touched) co_return touched.error().describe();
  Result<std::optional<StoredSession>> found = co_await store.load(one, 2400);
  if (!found || !*found) co_return "what was touched is gone";
  if ((*found)->record->seen_s != 1500 || (*found)->version != 1) co_return "it is another one";
  Result<std::optional<StoredSession>> late = co_await store.load(one, 2500);
  if (!late || *late) co_return "what is over is found";
  const Result<std::int64_t> expired = co_await store.remove_expired(2500);
  if (!expired || *expired != 1) co_return "what is over is not removed";
  std::string nobody, ann = "ann";
  const Result<std::int64_t> gone =
      co_await store.remove_all(std::move(nobody), std::move(ann), std::nullopt);
  if (!gone || *gone != 1) co_return "what is a user's is not removed";
  co_return "right";
}

TEST(SessionsInPostgres, are_kept_changed_touched_and_removed) {
  auto database = database::postgres::open(database::postgres::Cluster::shared().options());
  ASSERT_TRUE(database) << database.error().describe();
  thread::Loop loop;
  DatabaseSessionStore store(*database);
  EXPECT_EQ(loop.run(walk(store)), "right");
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
