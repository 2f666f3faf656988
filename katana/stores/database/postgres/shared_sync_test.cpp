// Reads of one turn may share a sync, which only the time shows. That they do is for
// tests/postgres: it takes a reactor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

class SharedSync : public PostgresTest {
 protected:
  void open_one() {
    open([](Options& options) { options.connections_max = 1; });
    run(must("CREATE TABLE numbers (id INT PRIMARY KEY, half INT NOT NULL)"));
    run(must("INSERT INTO numbers SELECT n, n / 2 FROM generate_series(0, 99) n"));
  }
  // A statement shares a sync once it is known to be quick.
  Task<void> divide(int id, std::string& answer) {
    const auto row =
        co_await db().query_one<int>("SELECT 1000 / id FROM numbers WHERE id = $1", id);
    answer = !row ? kind_of(row) : !*row ? "no row" : std::to_string(**row);
  }
  std::vector<std::string> divide_all(const std::vector<int>& ids) {
    std::vector<std::string> answers(ids.size());
    std::vector<Task<void>> tasks;
    for (std::size_t each = 0; each < ids.size(); ++each) {
      tasks.push_back(divide(ids[each], answers[each]));
    }
    run_all(tasks);
    return answers;
  }
};

TEST_F(SharedSync, one_that_fails_fails_alone) {
  open_one();
  divide_all({1});
  EXPECT_THAT(divide_all({1, 2, 0, 5, 777, 10, 0}),
              testing::ElementsAre("1000", "500", "invalid value", "200", "no row", "100",
                                   "invalid value"));
  EXPECT_THAT(divide_all({0, 4}), testing::ElementsAre("invalid value", "250"));
  EXPECT_THAT(divide_all({4, 0}), testing::ElementsAre("250", "invalid value"));
  EXPECT_TRUE(db().health());
}

TEST_F(SharedSync, a_write_of_the_same_turn_has_its_own) {
  open_one();
  divide_all({1});
  std::vector<std::string> answers(2);
  std::vector<Task<void>> tasks;
  tasks.push_back(divide(2, answers[0]));
  tasks.push_back(must("UPDATE numbers SET half = 77 WHERE id = 3"));
  tasks.push_back(divide(0, answers[1]));
  run_all(tasks);
  EXPECT_THAT(answers, testing::ElementsAre("500", "invalid value"));
  EXPECT_EQ(ask("SELECT half FROM numbers WHERE id = 3"), "77");
}

// The text shows no function: the read shares a sync. A write that was undone is done again, once.
TEST_F(SharedSync, what_a_view_writes_is_written_once) {
  open_one();
  run(must("CREATE TABLE visits (at INT)"));
  run(
      must("CREATE FUNCTION visit() RETURNS INT LANGUAGE sql VOLATILE AS "
           "'INSERT INTO visits VALUES (1) RETURNING at'"));
  run(must("CREATE VIEW visiting AS SELECT visit() AS at"));
  divide_all({1});
  const auto look = [&]() -> Task<void> {
    const auto row = co_await db().query_one<int>("SELECT at FROM visiting");
    EXPECT_TRUE(row && *row && **row == 1);
  };
  run(look());
  std::vector<std::string> answers(2);
  std::vector<Task<void>> tasks;
  tasks.push_back(look());
  tasks.push_back(divide(0, answers[0]));
  tasks.push_back(look());
  tasks.push_back(divide(8, answers[1]));
  run_all(tasks);
  EXPECT_THAT(answers, testing::ElementsAre("invalid value", "125"));
  EXPECT_EQ(ask("SELECT count(*) FROM visits"), "3");
}

TEST_F(SharedSync, a_row_that_does_not_fit_concerns_its_caller_alone) {
  open_one();
  std::vector<std::string> kinds(3);
  const auto read = [&](std::size_t caller, int id) -> Task<void> {
    kinds[caller] = kind_of(co_await db().query_one<std::int64_t>(
        "SELECT CASE WHEN id = 7 THEN NULL ELSE id END FROM numbers WHERE id = $1", id));
  };
  run(read(0, 1));
  std::vector<Task<void>> tasks;
  for (std::size_t caller = 0; caller < 3; ++caller) {
    tasks.push_back(read(caller, 6 + static_cast<int>(caller)));
  }
  run_all(tasks);
  EXPECT_THAT(kinds, testing::ElementsAre("done", "mismatch", "done"));
}

TEST_F(SharedSync, a_caller_that_is_gone_takes_nobody_with_it) {
  open_one();
  divide_all({1});
  std::vector<std::string> answers(3);
  auto first = divide(2, answers[0]);
  auto gone = std::make_unique<Task<void>>(divide(4, answers[1]));
  auto last = divide(5, answers[2]);
  EXPECT_FALSE(loop_.start(first));
  EXPECT_FALSE(loop_.start(*gone));
  EXPECT_FALSE(loop_.start(last));
  gone.reset();
  while (!first.done() || !last.done()) loop_.turn();
  EXPECT_THAT(answers, testing::ElementsAre("500", "", "200"));
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
