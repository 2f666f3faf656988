// PostgresTest: its own database in the cluster of this process, and a loop that asks it.
//
// Owns       the database and the loop.
// Thread     the test's.
// Fails      by failing the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace katana::database::postgres {

class PostgresTest : public testing::Test {
 protected:
  // Once more: another one, with other options.
  void open(const std::function<void(Options&)>& change = {}, bool over_tcp = false) {
    options_ = cluster_.options(over_tcp);
    options_.wait_max = seconds(20);
    if (change) change(options_);
    auto opened = postgres::open(options_);
    ASSERT_TRUE(opened) << opened.error().describe();
    database_.emplace(*std::move(opened));
  }
  Database& db() { return *database_; }
  template <class T>
  T run(Task<T> task) {
    return loop_.run(std::move(task));
  }
  // All begun in one turn, and done.
  void run_all(std::vector<Task<void>>& tasks) {
    for (Task<void>& task : tasks) loop_.start(task);
    for (const Task<void>& task : tasks) {
      while (!task.done()) loop_.turn();
    }
  }
  // Executes a statement that has to succeed.
  Task<void> must(SqlFor<> sql) {
    const auto done = co_await db().execute(sql);
    EXPECT_TRUE(done) << done.error().describe();
  }
  std::string ask(const std::string& statement) {
    return cluster_.ask(statement, options_.database);
  }
  std::string sessions() {
    return ask(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'katana' AND datname "
        "= current_database()");
  }

  Cluster& cluster_ = Cluster::shared();
  thread::Loop loop_;
  Options options_;
  std::optional<Database> database_;
};

template <class R>
std::string kind_of(const Result<R>& result) {
  return result ? "done" : std::string(kind_name(result.error().kind()));
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
