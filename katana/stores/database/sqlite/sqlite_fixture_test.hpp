// SqliteTest: a database on the threads of a scene; its time passes when a test says so.
//
// Owns       the file, the scene and the database.
// Thread     one.
// Fails      by failing the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/scene_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

namespace katana::database::sqlite {

class SqliteTest : public testing::Test {
 protected:
  void open(Options options = {}) {
    options.path = folder_ / "a.db";
    options.durability = Durability::normal;
    options.test_hooks = {&scene_.writer, &scene_.readers, scene_.clock()};
    auto created = Sqlite::create(options);
    ASSERT_TRUE(created) << created.error().describe();
    backend_ = created->get();
    db_.emplace(*std::move(created));
    EXPECT_EQ(text(execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE)")), "0");
  }
  void TearDown() override { scene_.run(); }

  template <class T>
  static std::string text(const Result<T>& result) {
    if (!result) return std::string(kind_name(result.error().kind()));
    if constexpr (std::is_arithmetic_v<T>) {
      return std::to_string(*result);
    } else {
      return *result ? std::to_string(**result) : "none";
    }
  }
  Result<std::int64_t> execute(SqlFor<> sql) {
    const auto body = [&]() -> Task<Result<std::int64_t>> { co_return co_await db_->execute(sql); };
    return run(body());
  }
  // Runs the scene until the task is done.
  template <class T>
  T run(Task<T> task) {
    start(task);
    while (!task.done() && !scene_.idle()) scene_.step();
    EXPECT_TRUE(task.done());
    return task.result();
  }
  template <class T>
  void start(Task<T>& task) {
    scene_.home.turn([&] { task.start(); });
  }
  Task<Result<std::int64_t>> insert(std::int64_t id, std::string v) {
    co_return co_await db_->execute("INSERT INTO t VALUES ($1, $2)", id, v);
  }
  Task<Result<std::optional<std::int64_t>>> count() {
    co_return co_await db_->query_one<std::int64_t>("SELECT count(*) FROM t");
  }
  Task<Result<std::optional<std::int64_t>>> slow_count(std::int64_t rows) {
    co_return co_await db_->query_one<std::int64_t>(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) "
        "SELECT count(*) FROM n",
        rows);
  }

  Folder folder_;
  Scene scene_{1};
  Sqlite* backend_ = nullptr;
  std::optional<Database> db_;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
