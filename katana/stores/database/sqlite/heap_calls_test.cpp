#include "katana/base/system/heap_calls_test.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/base/values/described.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

namespace katana::database::sqlite {
namespace {

struct Item {
  std::int64_t id = 0;
  Text name;
  std::optional<double> price;
};
KATANA_DESCRIBE(Item, id, name, price)

Task<bool> find(Database& db, std::int64_t id) {
  const auto found =
      co_await db.query_one<Item>("SELECT id, name, price FROM items WHERE id = $1", id);
  co_return found && *found && (*found)->id == id;
}

Task<bool> change(Database& db, std::int64_t id) {
  const auto changed =
      co_await db.execute("UPDATE items SET name = $2 WHERE id = $1", id, "a name of some length");
  co_return changed && *changed == 1;
}

Task<bool> fill(Database& db) {
  const auto made = co_await db.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name, price)");
  const auto filled = co_await db.execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
      "INSERT INTO items SELECT i, 'a name that is longer than a short string' || i, i / 2.0 FROM "
      "n");
  co_return made&& filled;
}

class DatabaseHeapCalls : public HeapCallsTest {
 protected:
  Folder folder_;
  thread::Loop loop_;
};

TEST_F(DatabaseHeapCalls, a_point_read_calls_the_heap_not_once) {
  auto opened = sqlite::open({.path = folder_ / "a.db"});
  ASSERT_TRUE(opened);
  Database db = *std::move(opened);
  ASSERT_TRUE(loop_.run(fill(db)));
  for (std::int64_t id = 1; id <= 100; ++id) ASSERT_TRUE(loop_.run(find(db, id)));
  const std::uint64_t before = heap_calls();
  bool good = true;
  for (std::int64_t id = 1; id <= 100; ++id) good = loop_.run(find(db, id)) && good;
  EXPECT_EQ(heap_calls() - before, 0u);
  EXPECT_TRUE(good);
}

TEST_F(DatabaseHeapCalls, a_write_calls_the_heap_on_the_reactor_not_once) {
  auto opened = sqlite::open({.path = folder_ / "a.db"});
  ASSERT_TRUE(opened);
  Database db = *std::move(opened);
  ASSERT_TRUE(loop_.run(fill(db)));
  for (std::int64_t id = 1; id <= 20; ++id) ASSERT_TRUE(loop_.run(change(db, id)));
  const std::uint64_t before = heap_calls();
  bool good = true;
  for (std::int64_t id = 1; id <= 20; ++id) good = loop_.run(change(db, id)) && good;
  EXPECT_EQ(heap_calls() - before, 0u);
  EXPECT_TRUE(good);
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
