// Tests of transactions, batches and reports, by the requests that a backend gets.
#include "katana/stores/database/transaction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"
#include "katana/stores/database/batch.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/make_missing.hpp"
#include "katana/stores/database/scripted_backend_test.hpp"

namespace katana::database {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Error conflict() { return {Kind::conflict, "two transactions met"}; }

// A database on a reactor in virtual time, whose answers a test writes.
class TransactionTest : public net::ReactorTest {
 protected:
  TransactionTest() { turn(); }
  ~TransactionTest() override { reactor().tasks().cancel(); }

  // Runs a task to its end; each turn takes a millisecond.
  template <class T>
  T run(Task<T> task) {
    task.start();
    for (int turns = 0; !task.done() && turns < 100'000; ++turns) turn(milliseconds(1));
    EXPECT_TRUE(task.done());
    return task.result();
  }
  // Runs a transaction whose commit fails by a conflict, and returns the error.
  std::string conflicting(TransactionOptions options, Instant deadline = never) {
    script_.calls.clear();
    begins_.clear();
    script_.answer = [this](const Script::Call& call) -> Script::Reply {
      if (call.order == Order::begin) begins_.push_back(reactor().now());
      if (call.order == Order::commit) return {.error = conflict()};
      return {};
    };
    auto body = [](Transaction& transaction) -> Task<Result<std::int64_t>> {
      co_return co_await transaction.execute("UPDATE t SET a = 1");
    };
    const DeadlineScope until(deadline);
    const auto ended = run(transact(database_, body, options));
    return ended ? "done" : std::string(kind_name(ended.error().kind()));
  }

  Script script_;
  Database database_{std::make_unique<ScriptedBackend>(script_)};
  std::vector<Instant> begins_;  // of each attempt
};

// ---- attempts

TEST_F(TransactionTest, a_body_runs_again_after_a_conflict_up_to_its_attempts) {
  for (const unsigned attempts : {1u, 2u, 5u}) {
    EXPECT_EQ(conflicting({.attempts_max = attempts, .backoff_min = milliseconds(2)}), "conflict");
    EXPECT_EQ(begins_.size(), attempts);
  }
}

// As a reply: it has a status, and refuses by it.
struct Outcome {
  using RefusesByStatus = void;
  unsigned code = 200;
  unsigned status() const { return code; }
};

TEST_F(TransactionTest, a_refusal_that_is_returned_as_a_value_rolls_back) {
  std::vector<Order> ended;
  script_.answer = [&](const Script::Call& call) -> Script::Reply {
    if (call.order == Order::commit || call.order == Order::rollback) ended.push_back(call.order);
    return {};
  };
  unsigned code = 0;
  auto body = [&](Transaction& transaction) -> Task<Result<Outcome>> {
    (void)co_await transaction.execute("UPDATE t SET a = 1");
    co_return Outcome{code};
  };
  for (const unsigned wanted : {399u, 400u, 409u}) {
    code = wanted;
    const auto done = run(transact(database_, body));
    ASSERT_TRUE(done);
    EXPECT_EQ(done->code, wanted) << "it is returned";
  }
  EXPECT_THAT(ended, ElementsAre(Order::commit, Order::rollback, Order::rollback));
}

TEST_F(TransactionTest, a_refusal_behind_a_savepoint_undoes_it_and_is_returned) {
  std::vector<Order> ended;
  script_.answer = [&](const Script::Call& call) -> Script::Reply {
    if (call.order == Order::release || call.order == Order::undo) ended.push_back(call.order);
    return {};
  };
  unsigned code = 0;
  auto part = [&](Savepoint&) -> Task<Result<Outcome>> { co_return Outcome{code}; };
  auto body = [&](Transaction& transaction) -> Task<Result<Outcome>> {
    for (const unsigned wanted : {399u, 400u, 409u}) {
      code = wanted;
      const auto done = co_await transact(transaction, part);
      EXPECT_TRUE(done && done->code == wanted);
    }
    co_return Outcome{200};
  };
  EXPECT_TRUE(run(transact(database_, body)));
  EXPECT_THAT(ended, ElementsAre(Order::release, Order::undo, Order::undo));
}

// As the response of another server: it has a status, and is a result as any other.
struct Response {
  unsigned status() const { return 404; }
};

TEST_F(TransactionTest, a_value_with_a_status_that_is_no_reply_is_kept) {
  std::vector<Order> ended;
  script_.answer = [&](const Script::Call& call) -> Script::Reply {
    const Order order = call.order;
    if (order == Order::commit || order == Order::rollback || order == Order::release ||
        order == Order::undo) {
      ended.push_back(order);
    }
    return {};
  };
  auto part = [](Savepoint&) -> Task<Result<Response>> { co_return Response(); };
  auto body = [&](Transaction& transaction) -> Task<Result<Response>> {
    co_return co_await transact(transaction, part);
  };
  EXPECT_TRUE(run(transact(database_, body)));
  EXPECT_THAT(ended, ElementsAre(Order::release, Order::commit));
}

TEST_F(TransactionTest, pauses_between_attempts_grow_up_to_their_bound) {
  const TransactionOptions options{
      .attempts_max = 60, .backoff_min = milliseconds(8), .backoff_max = milliseconds(128)};
  Duration longest, all;
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(conflicting(options), "conflict");
    ASSERT_EQ(begins_.size(), 60u);
    for (std::size_t attempt = 1; attempt < begins_.size(); ++attempt) {
      const Duration pause = begins_[attempt] - begins_[attempt - 1];
      const std::int64_t most_ms =
          std::min<std::int64_t>(8LL << std::min<std::size_t>(attempt - 1, 5), 128);
      EXPECT_LE(pause, milliseconds(most_ms + 8)) << attempt << ": some turns are for the calls";
      longest = std::max(longest, pause);
      all = all + pause;
    }
  }
  EXPECT_GT(longest, milliseconds(64)) << "of more than a thousand pauses of up to 128 ms";
  EXPECT_GT(all, seconds(20));
}

TEST_F(TransactionTest, a_body_does_not_run_again_beyond_the_deadline_of_its_caller) {
  const TransactionOptions options{.attempts_max = 3, .backoff_min = milliseconds(2)};
  EXPECT_EQ(conflicting(options, reactor().now()), "conflict");
  EXPECT_EQ(begins_.size(), 1u);
  EXPECT_EQ(conflicting(options, reactor().now() + seconds(3600)), "conflict");
  EXPECT_EQ(begins_.size(), 3u);
}

TEST(TransactionOnALoop, a_body_runs_again_at_once_on_a_thread_without_a_reactor) {
  Script script;
  Database database(std::make_unique<ScriptedBackend>(script));
  script.answer = [](const Script::Call& call) -> Script::Reply {
    if (call.order == Order::commit) return {.error = conflict()};
    return {};
  };
  thread::Loop loop;
  auto body = [](Transaction& transaction) -> Task<Result<std::int64_t>> {
    co_return co_await transaction.execute("UPDATE t SET a = 1");
  };
  const auto ended =
      loop.run(transact(database, body, {.attempts_max = 3, .backoff_min = seconds(3600)}));
  ASSERT_FALSE(ended);
  EXPECT_EQ(script.count_of(Order::begin), 3u);
}

// ---- savepoints

TEST_F(TransactionTest, savepoints_have_numbers_of_their_own_and_end_with_their_scope) {
  struct Body {
    static Task<void> run(Database& database, Script& script) {
      auto transaction = co_await database.begin();
      {
        const auto first = co_await transaction->savepoint();
        EXPECT_TRUE(first);
        auto second = co_await transaction->savepoint();
        EXPECT_TRUE(second);
        EXPECT_TRUE(co_await second->release());
      }  // the first is undone, as it was not released
      EXPECT_TRUE(co_await transaction->execute("UPDATE t SET a = 1"));
      EXPECT_TRUE(co_await transaction->commit());
      EXPECT_EQ(script.count_of(Order::undo), 1u);
    }
  };
  run(Body::run(database_, script_));
  std::vector<std::pair<Order, std::uint32_t>> orders;
  std::uint32_t first = 0;
  for (const Script::Call& call : script_.calls) {
    if (first == 0) first = call.savepoint;
    orders.emplace_back(call.order, call.savepoint == 0 ? 0 : call.savepoint - first + 1);
  }
  EXPECT_THAT(orders, ElementsAre(std::pair(Order::begin, 0), std::pair(Order::savepoint, 1),
                                  std::pair(Order::savepoint, 2), std::pair(Order::release, 2),
                                  std::pair(Order::undo, 1), std::pair(Order::within, 0),
                                  std::pair(Order::commit, 0)));
}

TEST(SavepointOnALoop, is_awaited_by_its_loop_and_outside_of_one_the_transaction_is_over) {
  Script script;
  Database database(std::make_unique<ScriptedBackend>(script));
  struct Body {
    static Task<Savepoint> make(Database& database) {
      auto transaction = co_await database.begin();
      auto savepoint = co_await transaction->savepoint();
      auto inner = co_await savepoint->savepoint();
      EXPECT_TRUE(inner);  // undone here
      EXPECT_TRUE(co_await transaction->commit());
      co_return *std::move(savepoint);
    }
  };
  {
    thread::Loop loop;
    auto savepoint = loop.run(Body::make(database));
    EXPECT_EQ(script.count_of(Order::undo), 1u) << "of the inner one";
    EXPECT_THAT(script.rolled_back, IsEmpty());
  }
  EXPECT_THAT(script.rolled_back, ElementsAre(1)) << "no executor could submit the undo";
}

// ---- batches

struct BatchRow {
  std::int64_t id = 0;
};
KATANA_DESCRIBE(BatchRow, id)

class BatchTest : public TransactionTest {
 protected:
  // Executes as many rows in a transaction; answers[n] is that of row n.
  Result<BatchChanges> execute(const std::vector<Script::Reply>& answers) {
    script_.answer = [&](const Script::Call& call) -> Script::Reply {
      if (call.order != Order::within) return {};
      return answers[static_cast<std::size_t>(std::stoul(call.values[0]))];
    };
    std::vector<BatchRow> rows;
    for (std::size_t id = 0; id < answers.size(); ++id) {
      rows.push_back({static_cast<std::int64_t>(id)});
    }
    return run(execute_many<BatchRow>(database_, "INSERT INTO t VALUES ($1)", rows));
  }
  static Script::Reply failing(Kind kind, const std::string& what) {
    return {.error = Error(kind, what)};
  }
};

TEST_F(BatchTest, counts_the_changes_of_each_row_and_of_all) {
  const auto changes = execute({{.rows_changed = 1}, {.rows_changed = 0}, {.rows_changed = 3}});
  ASSERT_TRUE(changes) << changes.error().describe();
  EXPECT_EQ(changes->rows_changed, 4);
  EXPECT_THAT(changes->by_row, ElementsAre(1, 0, 3));
  EXPECT_EQ(script_.count_of(Order::commit), 1u);
}

TEST_F(BatchTest, names_the_row_that_failed_and_not_those_that_failed_with_it) {
  const auto changes = execute({failing(Kind::failed_transaction, "the transaction has failed"),
                                {.rows_changed = 1},
                                failing(Kind::constraint_violation, "there is one"),
                                failing(Kind::failed_transaction, "the transaction has failed")});
  ASSERT_FALSE(changes);
  EXPECT_THAT(changes.error().describe(), HasSubstr("row 2 of the batch: there is one"));
  EXPECT_EQ(script_.count_of(Order::rollback), 1u);
}

TEST_F(BatchTest, of_a_transaction_that_had_failed_before_names_its_first_row) {
  const auto changes = execute({{.rows_changed = 1},
                                failing(Kind::failed_transaction, "the transaction has failed"),
                                failing(Kind::failed_transaction, "the transaction has failed")});
  ASSERT_FALSE(changes);
  EXPECT_THAT(changes.error().describe(), HasSubstr("row 1 of the batch"));
}

// ---- objects that may be there

TEST_F(TransactionTest, an_object_that_another_session_makes_is_tried_again_a_few_times) {
  const auto make = [&](Kind kind, int failures) {
    script_.calls.clear();
    int left = failures;
    script_.answer = [&](const Script::Call&) -> Script::Reply {
      if (left-- > 0) return {.error = Error(kind, "it is being made")};
      return {};
    };
    const Queries& queries = database_;
    std::vector<SqlFor<>> statements = {"CREATE TABLE IF NOT EXISTS a (b INT)",
                                        "CREATE INDEX IF NOT EXISTS c ON a (b)"};
    return run(make_missing(queries, std::move(statements))).has_value();
  };
  for (const Kind kind : {Kind::constraint_violation, Kind::syntax, Kind::conflict}) {
    EXPECT_TRUE(make(kind, 3)) << kind_name(kind);
    EXPECT_EQ(script_.calls.size(), 5u) << "four attempts, and the second statement";
    EXPECT_FALSE(make(kind, 4)) << kind_name(kind);
    EXPECT_EQ(script_.calls.size(), 4u);
  }
  EXPECT_FALSE(make(Kind::unavailable, 1));
  EXPECT_EQ(script_.calls.size(), 1u) << "no other failure is tried again";
}

// ---- reports

// Each look at its clock is a millisecond later.
class Reports final : public StatementObserver {
 public:
  Instant now() const noexcept override { return {1'000'000 * ++looks_}; }
  void on_statement(const StatementReport& report) noexcept override {
    lines.push_back(fmt::format("{} '{}' of {}: {} rows, {}, request '{}' trace '{}', {} ms",
                                report.name, report.text, report.system, report.rows,
                                report.failure ? kind_name(*report.failure) : "ok",
                                report.request_id, report.trace_id, report.duration.count_ms()));
  }
  std::vector<std::string> lines;

 private:
  mutable std::int64_t looks_ = 0;
};

TEST_F(TransactionTest, a_report_names_the_statement_its_system_and_its_request) {
  Reports reports;
  script_.system = "postgresql";
  database_.backend().observe_statements(&reports);
  script_.answer = [](const Script::Call& call) -> Script::Reply {
    if (call.order == Order::commit) return {.error = conflict()};
    return {.rows_changed = 7};
  };
  const Activity activity{.name = "request-1", .trace = "trace-1"};
  struct Body {
    static Task<void> run(Database& database) {
      (void)co_await database.execute("UPDATE users SET a = 1");
      auto transaction = co_await database.begin();
      (void)co_await transaction->commit();
    }
  };
  {
    const ActivityScope as(&activity);
    run(Body::run(database_));
  }
  EXPECT_THAT(reports.lines,
              ElementsAre("UPDATE users 'UPDATE users SET a = 1' of postgresql: 7 rows, ok, "
                          "request 'request-1' trace 'trace-1', 1 ms",
                          "BEGIN '' of postgresql: 0 rows, ok, request 'request-1' trace "
                          "'trace-1', 1 ms",
                          "COMMIT '' of postgresql: 0 rows, conflict, request 'request-1' trace "
                          "'trace-1', 1 ms"));
  database_.backend().observe_statements(nullptr);
}

TEST(Observation, counts_no_time_that_its_reader_takes_and_ends_in_the_activity_it_began_in) {
  Reports reports;
  const Sql sql("SELECT 1 FROM users");
  const Activity activity{.name = "request-2"};
  {
    detail::Observation ended;
    ended.begin({&reports, "sqlite"}, Order::open, &sql, &activity);  // 1 ms
    ended.pause();                                                    // 2
    for (int look = 0; look < 5; ++look) (void)reports.now();
    ended.resume();  // 8: 6 ms are the reader's
    ended.end(3, std::nullopt);
    ended.end(4, std::nullopt);  // it is over
  }
  {
    detail::Observation left;
    left.begin({&reports, "sqlite"}, Order::open, &sql, nullptr);
    left.pause();
    for (int look = 0; look < 5; ++look) (void)reports.now();
  }  // while its reader has its rows: cancelled, and the time until the pause counts
  {
    const detail::Observation none;
  }
  EXPECT_THAT(reports.lines,
              ElementsAre("SELECT users 'SELECT 1 FROM users' of sqlite: 3 rows, ok, request "
                          "'request-2' trace '', 2 ms",
                          "SELECT users 'SELECT 1 FROM users' of sqlite: 0 rows, cancelled, "
                          "request '' trace '', 1 ms"));
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
