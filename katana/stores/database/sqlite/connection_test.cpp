// Tests of one connection: its errors, its limits, and the statements that it refuses.
#include "katana/stores/database/sqlite/connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include <new>
#include <string>

#include "katana/stores/database/sqlite/bare_test.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/scene_test.hpp"

namespace katana::database::sqlite {
namespace {

using testing::HasSubstr;

// The rows of a statement, of which it wants so many at a time.
class Numbers final : public Outcome {
 public:
  TypeMismatch take(const Row& row) override {
    if (throws) throw std::bad_alloc();
    last = row.value(0).integer;
    ++taken;
    return {};
  }
  void clear() noexcept override {}
  bool wants_more() const noexcept override { return taken % batch != 0; }
  std::int64_t last = 0;
  std::size_t taken = 0;
  std::size_t batch = SIZE_MAX;
  bool throws = false;
};

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.path = folder_ / "a.db";
    auto opened = Connection::open(options_, Access::create, clock_);
    ASSERT_TRUE(opened) << opened.error().describe();
    connection_ = *std::move(opened);
    ASSERT_EQ(connection_->run_text("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE NOT "
                                    "NULL CHECK (v <> 'bad')); INSERT INTO t VALUES (1, 'a')"),
              SQLITE_OK);
  }
  // The error of a statement; the test fails if there is none.
  Error error_of(const Sql& sql, const Limits& limits = {}) {
    const auto statement = connection_->find(sql);
    if (!statement) return statement.error();
    Numbers outcome;
    const int code = connection_->run(**statement, {}, outcome, limits);
    EXPECT_NE(code, SQLITE_DONE) << sql.text();
    return outcome.error ? *outcome.error : connection_->error(code, sql.text());
  }
  static constexpr Sql endless{
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"};
  static constexpr Sql endless_sum{
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"};

  Folder folder_;
  Options options_;
  Instant now_{seconds(1000).ns};
  std::function<Instant()> clock_ = [this] { return now_; };
  std::unique_ptr<Connection> connection_;
};

// A work that no caller waits for any more.
class AbandonedWork {
 public:
  AbandonedWork() {
    scene_.home.turn([&] {
      work_.expect();
      work_.waiting = Waiting(std::noop_coroutine());
      work_.abandon();
    });
    EXPECT_TRUE(work_.abandoned_by_now());
  }
  const Work& work() const { return work_; }

 private:
  Scene scene_{1};
  Numbers outcome_;
  Work work_{scene_.home, Request{}, outcome_, [](Work*) noexcept {}};
};

TEST_F(ConnectionTest, a_violated_constraint_is_known_by_its_kind_and_its_columns) {
  const auto violated = [&](const Sql& sql) {
    const Error error = error_of(sql);
    EXPECT_EQ(error.kind(), Kind::constraint_violation) << error.describe();
    return std::string(constraint_name(error.constraint())) + " " + std::string(error.which());
  };
  EXPECT_EQ(violated("INSERT INTO t VALUES (1, 'b')"), "primary key t.id");
  EXPECT_EQ(violated("INSERT INTO t VALUES (2, 'a')"), "unique t.v");
  EXPECT_EQ(violated("INSERT INTO t VALUES (2, NULL)"), "not null t.v");
  EXPECT_EQ(violated("INSERT INTO t VALUES (2, 'bad')"), "check v <> 'bad'");
}

TEST_F(ConnectionTest, a_statement_over_its_deadline_has_timed_out_and_the_next_is_judged_anew) {
  const Error late = error_of(endless_sum, {.deadline = now_});
  EXPECT_EQ(late.kind(), Kind::timeout);
  EXPECT_THAT(late.describe(), HasSubstr("deadline exceeded"));
  EXPECT_TRUE(connection_->deadline_exceeded());
  const AbandonedWork abandoned;
  const Error left = error_of(endless_sum, {.work = &abandoned.work()});
  EXPECT_EQ(left.kind(), Kind::cancelled) << "no caller waits, and no time was up";
  EXPECT_THAT(std::string(left.message()), testing::StartsWith("interrupted"));
  EXPECT_FALSE(connection_->deadline_exceeded());
}

TEST_F(ConnectionTest, a_stream_that_goes_on_after_a_timeout_of_another_is_judged_anew) {
  const auto stream = connection_->find(endless);
  ASSERT_TRUE(stream);
  Numbers rows;
  rows.batch = 2;
  ASSERT_EQ(connection_->run(**stream, {}, rows, {.keep_values = true}), SQLITE_ROW);
  EXPECT_EQ(rows.last, 2);
  EXPECT_EQ(error_of(endless_sum, {.deadline = now_}).kind(), Kind::timeout);
  ASSERT_EQ(connection_->resume(**stream, rows, {}), SQLITE_ROW);
  EXPECT_EQ(rows.last, 4);
  EXPECT_FALSE(connection_->deadline_exceeded());
  (*stream)->reset();
}

TEST_F(ConnectionTest, a_lock_is_not_waited_for_when_no_caller_waits) {
  Bare other(options_.path);
  other.run("BEGIN IMMEDIATE");
  const AbandonedWork abandoned;
  // The clock stands still: the wait for the lock would have no end.
  const Error left = error_of("INSERT INTO t VALUES (2, 'b')", {.work = &abandoned.work()});
  EXPECT_EQ(left.kind(), Kind::busy) << left.describe();
  other.run("COMMIT");
}

TEST_F(ConnectionTest, memory_that_a_row_needs_and_does_not_get_is_a_failure_of_the_statement) {
  const auto statement = connection_->find("SELECT id FROM t");
  ASSERT_TRUE(statement);
  Numbers rows;
  rows.throws = true;
  EXPECT_EQ(connection_->run(**statement, {}, rows, {}), SQLITE_NOMEM);
  rows.throws = false;
  EXPECT_EQ(connection_->run(**statement, {}, rows, {}), SQLITE_DONE) << "it was reset";
  EXPECT_EQ(rows.taken, 1u);
}

TEST_F(ConnectionTest, statements_of_the_program_leave_transactions_files_and_pragmas_alone) {
  for (const Sql& sql :
       {Sql("BEGIN"), Sql("COMMIT"), Sql("SAVEPOINT s"), Sql("ATTACH 'other.db' AS other"),
        Sql("DETACH main"), Sql("PRAGMA synchronous = OFF")}) {
    const auto found = connection_->find(sql);
    ASSERT_FALSE(found) << sql.text();
    EXPECT_EQ(found.error().kind(), Kind::syntax) << sql.text();
    EXPECT_THAT(std::string(found.error().message()),
                testing::StartsWith("transactions are begun with Database::begin(), and files, "
                                    "pragmas and extensions are for the options"));
  }
  EXPECT_FALSE(connection_->find("SELECT load_extension('x')"));
  EXPECT_TRUE(connection_->find("PRAGMA user_version")) << "a pragma that only reads";
}

TEST_F(ConnectionTest, a_script_that_reaches_beyond_a_migration_is_refused_with_its_statement) {
  for (const char* const text : {"COMMIT", "PRAGMA synchronous = OFF", "ATTACH 'x.db' AS x"}) {
    const auto run =
        connection_->run_script(std::string("CREATE TABLE IF NOT EXISTS u (a); ") + text + ";");
    ASSERT_FALSE(run) << text;
    EXPECT_THAT(std::string(run.error().message()),
                testing::StartsWith("a migration cannot begin or end a transaction, attach a file "
                                    "or set a pragma"));
    EXPECT_THAT(run.error().describe(), HasSubstr(text));
  }
}

TEST_F(ConnectionTest, a_deferred_key_that_is_violated_is_known_before_the_commit) {
  ASSERT_EQ(connection_->run_text("CREATE TABLE owned (owner INTEGER REFERENCES t (id) "
                                  "DEFERRABLE INITIALLY DEFERRED)"),
            SQLITE_OK);
  EXPECT_EQ(connection_->run(Command::begin_now), SQLITE_DONE);
  EXPECT_FALSE(connection_->has_deferred_violations());
  EXPECT_EQ(connection_->run_text("INSERT INTO owned VALUES (99)"), SQLITE_OK);
  EXPECT_TRUE(connection_->has_deferred_violations());
  EXPECT_EQ(connection_->run_text("INSERT INTO t VALUES (99, 'z')"), SQLITE_OK);
  EXPECT_FALSE(connection_->has_deferred_violations());
  EXPECT_EQ(connection_->run(Command::commit), SQLITE_DONE);
}

TEST_F(ConnectionTest, a_file_that_may_only_be_read_is_opened_and_its_log_left_alone) {
  namespace fs = std::filesystem;
  constexpr uid_t nobody = 65534;
  fs::permissions(fs::path(options_.path).parent_path(), fs::perms(0755));
  fs::permissions(options_.path, fs::perms(0444));
  fs::permissions(options_.path + "-wal", fs::perms(0444));
  fs::permissions(options_.path + "-shm", fs::perms(0666));
  const uid_t user = geteuid();
  const bool is_root = user == 0;  // who may write to every file
  if (is_root) ASSERT_EQ(seteuid(nobody), 0);
  const auto reader = Connection::open(options_, Access::write, clock_);
  if (is_root) ASSERT_EQ(seteuid(user), 0);
  ASSERT_TRUE(reader) << reader.error().describe();
  EXPECT_EQ((*reader)->renew_log(), SQLITE_OK);
  EXPECT_EQ((*reader)->run_text("INSERT INTO t VALUES (9, 'z')"), SQLITE_READONLY);
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
