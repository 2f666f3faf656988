// Tests of calls while another session changes the schema under their prepared statements. They do
// not notice the change where they can run again.
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;

enum class Temper : std::uint8_t { sad, ok, happy };
KATANA_DESCRIBE_ENUM(Temper, sad, ok, happy)

struct Thing {
  std::int64_t id = 0;
  std::string name;
};
KATANA_DESCRIBE(Thing, id, name)

class SchemaChanges : public PostgresTest {
 protected:
  void open_with_things(unsigned connections = 1) {
    open([connections](Options& options) { options.connections_max = connections; });
    run(must("CREATE TABLE things (id int, name text)"));
    run(must("INSERT INTO things VALUES (1, 'x')"));
  }
  void change_things() { (void)ask("ALTER TABLE things ALTER COLUMN id TYPE bigint"); }
  void make_tempers() {
    (void)ask("CREATE TYPE temper AS ENUM ('sad', 'ok', 'happy', 'bored')");
    (void)ask("CREATE TABLE tempers (id bigint, t temper)");
  }
  // Makes the type anew, with another number, as tools do that remove a value.
  void make_tempers_anew() {
    (void)ask(
        "BEGIN; ALTER TYPE temper RENAME TO temper_old; CREATE TYPE temper AS ENUM ('sad', 'ok', "
        "'happy'); ALTER TABLE tempers ALTER COLUMN t TYPE temper USING t::text::temper; DROP TYPE "
        "temper_old; COMMIT");
  }
  Task<std::string> things() {
    const auto all = co_await db().query<Thing>("SELECT id, name FROM things ORDER BY id");
    co_return all ? std::to_string(all->size()) : all.error().describe();
  }
  Task<std::string> add_temper() {
    const auto done =
        co_await db().execute("INSERT INTO tempers (id, t) VALUES ($1, $2)", 2, Temper::sad);
    co_return done ? "done" : done.error().describe();
  }
};

TEST_F(SchemaChanges, a_transaction_is_undone_and_its_scope_runs_again) {
  open_with_things();
  int runs = 0;
  auto scope = [&](Transaction& transaction) -> Task<Result<std::size_t>> {
    ++runs;
    const auto all = co_await transaction.query<Thing>("SELECT id, name FROM things ORDER BY id");
    if (!all) co_return std::unexpected(all.error());
    const auto more = co_await transaction.query<Thing>("SELECT * FROM things WHERE id > 0");
    if (!more) co_return std::unexpected(more.error());
    const auto last = co_await transaction.query_one<Thing>("SELECT * FROM things LIMIT 1");
    if (!last) co_return std::unexpected(last.error());
    co_return all->size();
  };
  const auto body = [&]() -> Task<void> {
    for (int round = 0; round < 2; ++round) EXPECT_TRUE(co_await transact(db(), scope));
    change_things();
    const auto changed = co_await transact(db(), scope);
    EXPECT_TRUE(changed) << changed.error().describe();
    EXPECT_EQ(runs, 4) << "one statement that finds out stands for all";
    EXPECT_TRUE(co_await transact(db(), scope));
    EXPECT_EQ(runs, 5);
  };
  run(body());
}

TEST_F(SchemaChanges, a_transaction_without_a_scope_says_that_it_may_be_run_again) {
  open_with_things();
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await things(), "1");
    change_things();
    auto transaction = co_await db().begin();
    const auto all = co_await transaction->query<Thing>("SELECT id, name FROM things ORDER BY id");
    EXPECT_EQ(kind_of(all), "conflict");
    EXPECT_TRUE(!all && all.error().retryable());
    EXPECT_THAT(all.error().describe(), HasSubstr("the schema was changed"));
    EXPECT_TRUE(co_await transaction->rollback());
    EXPECT_EQ(co_await things(), "1");
  };
  run(body());
}

TEST_F(SchemaChanges, a_savepoint_does_not_hide_that_the_scope_has_to_run_again) {
  open_with_things();
  int runs = 0;
  auto inner = [&](Savepoint& savepoint) -> Task<Result<void>> {
    const auto all = co_await savepoint.query<Thing>("SELECT id, name FROM things ORDER BY id");
    if (!all) co_return std::unexpected(all.error());
    co_return Result<void>();
  };
  auto scope = [&](Transaction& transaction) -> Task<Result<void>> {
    ++runs;
    co_return co_await transact(transaction, inner);
  };
  const auto body = [&]() -> Task<void> {
    EXPECT_TRUE(co_await transact(db(), scope));
    change_things();
    const auto changed = co_await transact(db(), scope);
    EXPECT_TRUE(changed) << changed.error().describe();
    EXPECT_EQ(runs, 3);
  };
  run(body());
}

TEST_F(SchemaChanges, calls_of_one_turn_share_a_connection_and_all_run_again) {
  open_with_things();
  std::vector<std::string> said(6);
  const auto ask_all = [&] {
    const auto each = [&](std::size_t index) -> Task<void> { said[index] = co_await things(); };
    std::vector<Task<void>> tasks;
    for (std::size_t index = 0; index < said.size(); ++index) tasks.push_back(each(index));
    run_all(tasks);
  };
  ask_all();
  ask_all();
  change_things();
  ask_all();
  EXPECT_THAT(said, testing::Each("1"));
}

TEST_F(SchemaChanges, every_connection_hears_of_it) {
  open_with_things(3);
  std::vector<std::string> said(24);
  const auto ask_all = [&] {
    const auto each = [&](std::size_t index) -> Task<void> {
      const auto slow = co_await db().query_one<int>("SELECT 1 FROM pg_sleep(0.01)");
      EXPECT_TRUE(slow);
      said[index] = co_await things();
    };
    std::vector<Task<void>> tasks;
    for (std::size_t index = 0; index < said.size(); ++index) tasks.push_back(each(index));
    run_all(tasks);
  };
  ask_all();
  change_things();
  for (int round = 0; round < 3; ++round) {
    ask_all();
    EXPECT_THAT(said, testing::Each("1"));
  }
}

TEST_F(SchemaChanges, a_type_that_was_made_anew_is_found_by_writes_and_transactions) {
  open([](Options& options) { options.connections_max = 1; });
  make_tempers();
  auto scope = [&](Transaction& transaction) -> Task<Result<void>> {
    const auto done = co_await transaction.execute("INSERT INTO tempers (id, t) VALUES ($1, $2)", 3,
                                                   Temper::happy);
    if (!done) co_return std::unexpected(done.error());
    co_return Result<void>();
  };
  const auto body = [&]() -> Task<void> {
    for (int round = 0; round < 2; ++round) EXPECT_EQ(co_await add_temper(), "done");
    make_tempers_anew();
    for (int round = 0; round < 2; ++round) EXPECT_EQ(co_await add_temper(), "done");
    EXPECT_TRUE(co_await transact(db(), scope));
    make_tempers_anew();
    const auto again = co_await transact(db(), scope);
    EXPECT_TRUE(again) << again.error().describe();
  };
  run(body());
  EXPECT_EQ(ask("SELECT count(*) FROM tempers"), "6") << "and each was written once";
}

TEST_F(SchemaChanges, a_statement_that_never_succeeded_is_prepared_anew_too) {
  open([](Options& options) { options.connections_max = 1; });
  make_tempers();
  (void)ask("ALTER TABLE tempers ADD PRIMARY KEY (id)");
  (void)ask("INSERT INTO tempers VALUES (2, 'ok')");
  const auto body = [&]() -> Task<void> {
    EXPECT_THAT(co_await add_temper(), HasSubstr("primary key")) << "but is prepared";
    make_tempers_anew();
    EXPECT_THAT(co_await add_temper(), HasSubstr("primary key"));
    (void)ask("DELETE FROM tempers");
    EXPECT_EQ(co_await add_temper(), "done");
  };
  run(body());
}

TEST_F(SchemaChanges, a_session_without_its_prepared_statements_prepares_them_anew) {
  open_with_things();
  auto scope = [&](Transaction& transaction) -> Task<Result<void>> {
    const auto all = co_await transaction.query<Thing>("SELECT id, name FROM things ORDER BY id");
    if (!all) co_return std::unexpected(all.error());
    const auto one = co_await transaction.query_one<int>("SELECT count(*)::int FROM things");
    if (!one) co_return std::unexpected(one.error());
    co_return Result<void>();
  };
  const auto body = [&]() -> Task<void> {
    EXPECT_TRUE(co_await transact(db(), scope));
    EXPECT_EQ(co_await things(), "1");
    co_await must("DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$");  // as a pooler does
    EXPECT_EQ(co_await things(), "1");
    co_await must("DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$");
    const auto again = co_await transact(db(), scope);
    EXPECT_TRUE(again) << again.error().describe();
  };
  run(body());
}

TEST_F(SchemaChanges, a_stream_that_gave_no_row_begins_anew) {
  open_with_things();
  const auto body = [&]() -> Task<void> {
    for (int round = 0; round < 4; ++round) {
      if (round == 2) change_things();
      auto rows = db().stream<Thing>("SELECT id, name FROM things ORDER BY id");
      const auto first = co_await rows.next();
      EXPECT_TRUE(first && *first && (*first)->name == "x")
          << (first ? "nothing" : first.error().describe());
      const auto second = co_await rows.next();
      EXPECT_TRUE(second && !*second);
    }
    EXPECT_EQ(co_await things(), "1");
  };
  run(body());
  EXPECT_EQ(db().statistics().streams_open, 0u);
}

TEST_F(SchemaChanges, a_statement_that_fails_each_time_runs_no_more_than_twice) {
  open([](Options& options) { options.connections_max = 1; });
  (void)ask("CREATE TABLE there (id int)");
  (void)ask(
      "CREATE FUNCTION look() RETURNS int LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN EXECUTE "
      "'SELECT count(*) FROM there' INTO n; RETURN n; END $$");
  const auto body = [&]() -> Task<void> {
    EXPECT_TRUE(co_await db().query_one<int>("SELECT look()"));
    (void)ask("DROP TABLE there");
    const std::uint64_t before = db().statistics().statements_prepared;
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(kind_of(co_await db().query_one<int>("SELECT look()")), "syntax");
    }
    EXPECT_LE(db().statistics().statements_prepared - before, 3u);
    (void)ask("CREATE TABLE there (id int)");
    EXPECT_TRUE(co_await db().query_one<int>("SELECT look()"));
  };
  run(body());
}

TEST_F(SchemaChanges, a_procedure_that_may_have_committed_does_not_run_again) {
  open([](Options& options) { options.connections_max = 1; });
  (void)ask("CREATE TABLE kept (id int); CREATE TABLE there (id int)");
  (void)ask(
      "CREATE PROCEDURE step() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO kept VALUES (1); COMMIT; "
      "EXECUTE 'INSERT INTO there VALUES (1)'; END $$");
  const auto body = [&]() -> Task<void> {
    co_await must("CALL step()");
    (void)ask("DROP TABLE there");
    EXPECT_EQ(kind_of(co_await db().execute("CALL step()")), "syntax");
  };
  run(body());
  EXPECT_EQ(ask("SELECT count(*) FROM kept"), "2");
}

TEST_F(SchemaChanges, without_prepared_statements_it_is_the_same) {
  open([](Options& options) {
    options.connections_max = 1;
    options.prepared_statements = false;
  });
  make_tempers();
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await add_temper(), "done");
    make_tempers_anew();
    EXPECT_EQ(co_await add_temper(), "done");
  };
  run(body());
  EXPECT_EQ(ask("SELECT count(*) FROM tempers"), "2");
}

// ---- a value behind a statement that failed

struct Answer {  // as a Reply
  using RefusesByStatus = void;
  unsigned status() const noexcept { return code; }
  unsigned code = 200;
};

TEST_F(SchemaChanges, an_answer_that_refuses_is_given_though_a_statement_had_failed) {
  open([](Options& options) { options.connections_max = 1; });
  run(must("CREATE TABLE users (id int, email text UNIQUE)"));
  unsigned code = 409;
  auto scope = [&](Transaction& transaction) -> Task<Result<Answer>> {
    (void)co_await transaction.execute("INSERT INTO users VALUES (1, 'b')");
    const auto done = co_await transaction.execute("INSERT INTO users VALUES (2, 'b')");
    if (!done) co_return Answer{code};
    co_return Answer{};
  };
  const auto body = [&]() -> Task<void> {
    const auto refused = co_await transact(db(), scope);
    EXPECT_TRUE(refused && refused->code == 409);
    code = 201;
    const auto wrong = co_await transact(db(), scope);
    EXPECT_EQ(kind_of(wrong), "failed transaction");
    EXPECT_THAT(wrong.error().describe(), HasSubstr("INSERT INTO users VALUES (2, 'b')"));
    EXPECT_THAT(wrong.error().describe(), HasSubstr("users.email"));
    EXPECT_THAT(wrong.error().describe(), HasSubstr("Return that error from the body"));
  };
  run(body());
  EXPECT_EQ(ask("SELECT count(*) FROM users"), "0");
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
