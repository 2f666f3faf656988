// DatabaseSuite: tests that every backend has to pass. A backend is plugged into them.
//
//   struct SqlitePlug {
//     static constexpr bool text_may_have_zero = true;   // a zero byte, which PostgreSQL refuses
//     katana::Result<Database> open();                   // an empty database, each time
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, DatabaseSuite, SqlitePlug);
//
// Owns       a plug, and the database that it opened.
// Thread     the test's, with a thread::Loop as the executor.
// Fails      by failing the test.
// Invariant  the statements use only SQL that SQLite and PostgreSQL share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/base/values/decimal.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/duration_text.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/range.hpp"

namespace katana::database::suite {

enum class Role : std::uint8_t { guest, admin };
KATANA_DESCRIBE_ENUM(Role, guest, (admin, "administrator"))
enum class Level : std::int16_t { low = -1, high = 7 };

struct User {
  std::int64_t id = 0;
  std::string name;
  std::optional<std::string> email;
  std::int64_t balance = 0;
  double score = 0;
  std::vector<std::byte> photo;
  Role role = Role::guest;
  Level level = Level::low;
};
KATANA_DESCRIBE(User, id, name, email, balance, score, photo, role, level)

struct Name {
  std::string name;
};
KATANA_DESCRIBE(Name, name)

inline User sample(std::int64_t id) {
  return {id, "name " + std::to_string(id), std::nullopt, 0, 0.5, {}, Role::guest, Level::low};
}

// A statement that does not end before it is cancelled.
inline constexpr Sql endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

inline constexpr Sql endless_write =
    "INSERT INTO users SELECT n.i, 'a', NULL, 0, 0, NULL, NULL, 0 FROM (WITH RECURSIVE n(i) AS "
    "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n) AS n WHERE n.i < 0";

template <class Plug>
class DatabaseSuite : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = plug_.open();
    ASSERT_TRUE(opened) << opened.error().describe();
    database_.emplace(*std::move(opened));
    const auto tables = [this]() -> Task<bool> {
      const auto users = co_await db().execute(
          "CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, "
          "balance BIGINT NOT NULL CONSTRAINT solvent CHECK (balance >= 0), "
          "score DOUBLE PRECISION, photo BLOB, role TEXT, level INT)");
      const auto notes = co_await db().execute(
          "CREATE TABLE notes (id INTEGER PRIMARY KEY, owner BIGINT NOT NULL REFERENCES users "
          "(id))");
      co_return users&& notes;
    };
    ASSERT_TRUE(run(tables()));
  }

  Database& db() { return *database_; }
  template <class T>
  T run(Task<T> task) {
    return loop_.run(std::move(task));
  }
  Task<void> add(User user) {
    const auto added =
        co_await db().execute("INSERT INTO users VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", user);
    EXPECT_TRUE(added) << added.error().describe();
  }
  Task<std::int64_t> count() {
    const auto counted =
        co_await db().template query_one<std::int64_t>("SELECT count(*) FROM users");
    EXPECT_TRUE(counted) << counted.error().describe();
    co_return counted && *counted ? **counted : -1;
  }

  Plug plug_;
  thread::Loop loop_;
  std::optional<Database> database_;
};
TYPED_TEST_SUITE_P(DatabaseSuite);

TYPED_TEST_P(DatabaseSuite, a_described_struct_goes_in_as_parameters_and_comes_out_as_a_row) {
  const auto body = [this]() -> Task<void> {
    User user{std::numeric_limits<std::int64_t>::min(),
              TypeParam::text_may_have_zero ? std::string("a\0é'\"", 6) : std::string("aé'\""),
              "a@b",
              7,
              -0.25,
              {std::byte{0}, std::byte{255}},
              Role::admin,
              Level::high};
    co_await this->add(user);
    const auto found = co_await this->db().template query_one<User>(
        "SELECT level, role, photo, score, balance, email, name, id FROM users WHERE id = $1",
        user.id);
    EXPECT_TRUE(found && *found);
    if (!found || !*found) co_return;
    EXPECT_EQ((*found)->id, user.id);
    EXPECT_EQ((*found)->name, user.name);
    EXPECT_EQ((*found)->email, user.email);
    EXPECT_EQ((*found)->score, user.score);
    EXPECT_EQ((*found)->photo, user.photo);
    EXPECT_EQ((*found)->role, Role::admin);
    EXPECT_EQ((*found)->level, Level::high);
  };
  this->run(body());
}

struct Payment {
  Uuid id;
  Decimal amount;
  std::optional<Timestamp> paid;
  std::chrono::seconds within;
  bool operator==(const Payment&) const = default;
};
KATANA_DESCRIBE(Payment, id, amount, paid, within)

TYPED_TEST_P(DatabaseSuite, types_with_a_text_form_are_columns_and_parameters_of_text) {
  const auto body = [this]() -> Task<void> {
    (void)co_await this->db().execute(
        "CREATE TABLE payments (id TEXT, amount TEXT, paid TEXT, within TEXT)");
    const Payment paid{Uuid::random(), *Decimal::parse("-12345678901234567890.50"),
                       Timestamp(std::chrono::microseconds(1)), std::chrono::hours(1)};
    const Payment open{Uuid::random(), 7, std::nullopt, std::chrono::seconds(90)};
    for (const Payment& each : {paid, open}) {
      const auto added =
          co_await this->db().execute("INSERT INTO payments VALUES ($1, $2, $3, $4)", each);
      EXPECT_TRUE(added) << added.error().describe();
    }
    const auto found = co_await this->db().template query_one<Payment>(
        "SELECT * FROM payments WHERE id = $1 AND amount = $2", paid.id, paid.amount);
    EXPECT_TRUE(found && *found == paid);
    const auto unpaid = co_await this->db().template query_one<Payment>(
        "SELECT * FROM payments WHERE id = $1", std::optional(open.id));
    EXPECT_TRUE(unpaid && *unpaid == open);
    const auto wrong = co_await this->db().template query_one<Uuid>(
        "SELECT amount FROM payments WHERE id = $1", paid.id);
    EXPECT_TRUE(!wrong && wrong.error().describe().contains("amount"));
  };
  this->run(body());
}

struct Lists {
  std::vector<std::string> names;
  std::vector<std::optional<double>> weights;
  std::vector<Role> roles;
  std::vector<std::vector<int>> grid;
  std::optional<std::vector<bool>> flags;
  Range<std::int64_t> span;
  bool operator==(const Lists&) const = default;
};
KATANA_DESCRIBE(Lists, names, weights, roles, grid, flags, span)

TYPED_TEST_P(DatabaseSuite, vectors_and_ranges_are_columns_and_parameters_of_text) {
  const auto body = [this]() -> Task<void> {
    (void)co_await this->db().execute(
        "CREATE TABLE lists (names TEXT, weights TEXT, roles TEXT, grid TEXT, flags TEXT, span "
        "TEXT)");
    const Lists full{{"", "a,b]\"\\ \n\t\x01 ü😀", "null"},
                     {0.5, std::nullopt, -1e300, std::numeric_limits<double>::infinity()},
                     {Role::admin, Role::guest},
                     {{1, 2}, {}, {-3}},
                     std::vector<bool>{true, false},
                     {.lower = -1, .upper = std::nullopt, .has_lower = false}};
    for (const Lists& each : {full, Lists{}}) {
      const auto added =
          co_await this->db().execute("INSERT INTO lists VALUES ($1, $2, $3, $4, $5, $6)", each);
      EXPECT_TRUE(added) << added.error().describe();
    }
    const auto found = co_await this->db().template query<Lists>("SELECT * FROM lists");
    EXPECT_TRUE(found) << found.error().describe();
    if (found) {
      EXPECT_THAT(*found, testing::UnorderedElementsAre(full, Lists{}));
    }
    for (const char* const text :
         {"[1", "[1,]", "[1 2]", "{1}", "[1]x", "[\"\\ud800\"]", "[300]"}) {
      const auto wrong = co_await this->db().template query_one<std::vector<std::int8_t>>(
          "SELECT CAST($1 AS TEXT) AS list", std::string(text));
      EXPECT_TRUE(!wrong && wrong.error().kind() == Kind::mismatch) << text;
      EXPECT_TRUE(!wrong && wrong.error().describe().contains("'list' is ")) << text;
    }
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, tuples_scalars_and_optionals_are_rows_too) {
  const auto body = [this]() -> Task<void> {
    auto& db = this->db();
    using Row3 = std::tuple<std::int64_t, std::string, std::optional<double>>;
    const auto tuple =
        co_await db.template query_one<Row3>("SELECT id, name, score FROM users WHERE id = $1", 1);
    EXPECT_TRUE(tuple && !*tuple);
    co_await this->add(sample(1));
    co_await this->add(sample(2));
    const auto rows = co_await db.template query<Row3>(
        "SELECT id, name, NULL FROM users WHERE id >= $1 ORDER BY id", std::int8_t{1});
    EXPECT_TRUE(rows);
    if (rows) {
      EXPECT_THAT(*rows, testing::ElementsAre(Row3{1, "name 1", std::nullopt},
                                              Row3{2, "name 2", std::nullopt}));
    }
    const auto email = co_await db.template query_one<std::optional<std::string>>(
        "SELECT email FROM users WHERE id = 1");
    EXPECT_TRUE(email && *email && !**email);
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, an_empty_text_is_not_null_and_null_is_a_parameter) {
  const auto body = [this]() -> Task<void> {
    co_await this->add(sample(1));
    const std::string_view empty;
    const auto set = co_await this->db().execute(
        "UPDATE users SET name = $2, email = $3, photo = $4 WHERE id = $1", 1, empty, nullptr,
        std::optional<std::string>());
    EXPECT_TRUE(set && *set == 1);
    using Row3 = std::tuple<std::string, std::optional<std::string>, std::optional<std::string>>;
    const auto row =
        co_await this->db().template query_one<Row3>("SELECT name, email, photo FROM users");
    EXPECT_TRUE(row && *row && **row == Row3("", std::nullopt, std::nullopt));
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_parameter_may_stand_anywhere_and_more_than_once) {
  const auto body = [this]() -> Task<void> {
    using Row4 = std::tuple<std::string, std::string, std::string, std::string>;
    const auto row = co_await this->db().template query_one<Row4>(
        "SELECT CAST($2 AS TEXT), '$9', CAST($1 AS TEXT), CAST($2 AS TEXT) -- $7", "one", "two");
    EXPECT_TRUE(row && *row && **row == Row4("two", "$9", "one", "two"));
  };
  this->run(body());
}

template <class R>
std::string mismatch(const Result<R>& result) {
  EXPECT_FALSE(result);
  if (result) return {};
  EXPECT_EQ(result.error().kind(), Kind::mismatch) << result.error().describe();
  return result.error().describe();
}

TYPED_TEST_P(DatabaseSuite, a_column_that_does_not_fit_is_an_error_that_names_it) {
  const auto body = [this]() -> Task<void> {
    using testing::HasSubstr;
    auto& db = this->db();
    co_await this->add(sample(1));
    const auto null = co_await db.template query_one<std::string>("SELECT email FROM users");
    EXPECT_THAT(mismatch(null), HasSubstr("'email' is null"));
    const auto text = co_await db.template query_one<std::int64_t>("SELECT name FROM users");
    EXPECT_THAT(mismatch(text), HasSubstr("'name' is no integer"));
    const auto range = co_await db.template query<std::int8_t>("SELECT 1000 AS big");
    EXPECT_THAT(mismatch(range), HasSubstr("'big' is out of range"));
    const auto missing = co_await db.template query<Name>("SELECT id FROM users");
    EXPECT_THAT(mismatch(missing), HasSubstr("'name' is no column of the result"));
    const auto columns = co_await db.template query<std::int64_t>("SELECT id, name FROM users");
    EXPECT_THAT(mismatch(columns), HasSubstr("more columns"));
    const auto role = co_await db.template query<Role>("SELECT 'root' AS role");
    EXPECT_THAT(mismatch(role), HasSubstr("'role' is no enumerator's name"));
    co_await this->add(sample(2));
    const auto two = co_await db.template query_one<std::int64_t>("SELECT id FROM users");
    EXPECT_THAT(mismatch(two), HasSubstr("statement: SELECT id FROM users"));
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_violated_constraint_says_which_and_never_a_value) {
  const auto body = [this]() -> Task<void> {
    auto& db = this->db();
    co_await this->add(sample(1));
    User second = sample(2);
    second.email = "secret@example.org";
    co_await this->add(second);
    const auto unique = co_await db.execute("UPDATE users SET email = $1", "secret@example.org");
    EXPECT_FALSE(unique);
    if (unique) co_return;
    EXPECT_EQ(unique.error().kind(), Kind::constraint_violation);
    EXPECT_EQ(unique.error().constraint(), Constraint::unique);
    EXPECT_EQ(unique.error().which(), "users.email");
    EXPECT_EQ(unique.error().code(), Code::already_exists);
    EXPECT_THAT(unique.error().describe(), testing::HasSubstr("UPDATE users SET email = $1"));
    EXPECT_THAT(unique.error().describe(), testing::Not(testing::HasSubstr("secret")));
    const auto check = co_await db.execute("UPDATE users SET balance = $1 WHERE id = $2", -1, 1);
    EXPECT_TRUE(!check && check.error().constraint() == Constraint::check);
    EXPECT_TRUE(!check && check.error().which() == "solvent");
    const auto null = co_await db.execute("UPDATE users SET name = $1", nullptr);
    EXPECT_TRUE(!null && null.error().constraint() == Constraint::not_null);
    EXPECT_TRUE(!null && null.error().which() == "users.name");
    const auto owner = co_await db.execute("INSERT INTO notes VALUES (1, $1)", 99);
    EXPECT_TRUE(!owner && owner.error().constraint() == Constraint::foreign_key);
    const katana::Result<std::int64_t> wider = unique;  // what a handler returns
    EXPECT_EQ(wider.error().code(), Code::already_exists);
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, what_is_no_statement_of_the_program_is_refused) {
  const auto body = [this]() -> Task<void> {
    auto& db = this->db();
    const auto kind = [](const auto& result) {
      return result ? std::string("done") : std::string(kind_name(result.error().kind()));
    };
    EXPECT_EQ(kind(co_await db.execute("SELEKT 1")), "syntax");
    EXPECT_EQ(kind(co_await db.execute("SELECT nothing FROM nowhere")), "syntax");
    EXPECT_EQ(kind(co_await db.execute("BEGIN")), "syntax");
    EXPECT_EQ(kind(co_await db.execute("COMMIT")), "syntax");
    EXPECT_EQ(kind(co_await db.execute("SELECT 1; DROP TABLE users")), "syntax");
    EXPECT_EQ(co_await this->count(), 0);
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_write_says_how_many_rows_and_returns_what_it_is_asked_to) {
  const auto body = [this]() -> Task<void> {
    auto& db = this->db();
    for (int id = 1; id <= 3; ++id) co_await this->add(sample(id));
    const auto changed = co_await db.execute("UPDATE users SET score = 1 WHERE id >= $1", 2);
    EXPECT_TRUE(changed && *changed == 2);
    const auto ids = co_await db.template query<std::int64_t>(
        "DELETE FROM users WHERE id <> $1 RETURNING id", 2);
    EXPECT_TRUE(ids);
    if (ids) {
      EXPECT_THAT(*ids, testing::UnorderedElementsAre(1, 3));
    }
    EXPECT_EQ(co_await this->count(), 1);
    const auto misfit = co_await db.template query<std::string>("DELETE FROM users RETURNING id");
    EXPECT_FALSE(misfit);
    EXPECT_EQ(co_await this->count(), 1) << "a write whose rows cannot be read is not done";
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_transaction_is_done_whole_when_it_is_committed) {
  const auto body = [this]() -> Task<void> {
    auto transaction = co_await this->db().begin();
    EXPECT_TRUE(transaction);
    if (!transaction) co_return;
    const auto insert = co_await transaction->execute(
        "INSERT INTO users VALUES ($1, $2, NULL, 0, 0, NULL, NULL, 0)", 1, "a");
    EXPECT_TRUE(insert && *insert == 1);
    const auto inside =
        co_await transaction->template query_one<std::int64_t>("SELECT count(*) FROM users");
    EXPECT_TRUE(inside && *inside && **inside == 1) << "it sees what it did";
    EXPECT_EQ(co_await this->count(), 0) << "others do not";
    const auto committed = co_await transaction->commit();
    EXPECT_TRUE(committed);
    EXPECT_EQ(co_await this->count(), 1);
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_transaction_that_is_destroyed_or_rolled_back_did_nothing) {
  const auto body = [this]() -> Task<void> {
    {
      auto dropped = co_await this->db().begin();
      (void)co_await dropped->execute(
          "INSERT INTO users VALUES ($1, $2, NULL, 0, 0, NULL, NULL, 0)", 1, "a");
    }
    auto given_up = co_await this->db().begin();
    (void)co_await given_up->execute("INSERT INTO users VALUES ($1, $2, NULL, 0, 0, NULL, NULL, 0)",
                                     2, "b");
    EXPECT_TRUE(co_await given_up->rollback());
    co_await this->add(sample(3));
    EXPECT_EQ(co_await this->count(), 1);
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_transaction_with_a_failed_statement_can_only_be_rolled_back) {
  const auto body = [this]() -> Task<void> {
    auto transaction = co_await this->db().begin();
    EXPECT_TRUE(transaction);
    if (!transaction) co_return;
    (void)co_await transaction->execute(
        "INSERT INTO users VALUES ($1, $2, NULL, 0, 0, NULL, NULL, 0)", 1, "a");
    const auto broken = co_await transaction->execute(
        "INSERT INTO users VALUES ($1, $2, NULL, 0, 0, NULL, NULL, 0)", 1, "again");
    EXPECT_TRUE(!broken && broken.error().kind() == Kind::constraint_violation);
    const auto next = co_await transaction->execute("DELETE FROM users");
    EXPECT_TRUE(!next && next.error().kind() == Kind::failed_transaction);
    const auto commit = co_await transaction->commit();
    EXPECT_TRUE(!commit && commit.error().kind() == Kind::failed_transaction);
    EXPECT_EQ(co_await this->count(), 0);
    co_await this->add(sample(1));  // the writer is free again
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_scope_commits_on_success_and_rolls_back_otherwise) {
  const auto body = [this]() -> Task<void> {
    int id = 0;
    bool succeeds = true;
    auto scope = [&](Transaction& transaction) -> Task<katana::Result<int>> {
      const auto insert = co_await transaction.execute(
          "INSERT INTO users VALUES ($1, $2, NULL, 0, 0, NULL, NULL, 0)", ++id, "a");
      if (!insert) co_return std::unexpected(insert.error());
      if (id == 3) throw std::runtime_error("in the scope");
      if (!succeeds) co_return katana::fail(Code::not_found, "changed its mind");
      co_return id;
    };
    const auto first = co_await transact(this->db(), scope);
    EXPECT_TRUE(first && *first == 1);
    succeeds = false;
    const auto second = co_await transact(this->db(), scope);
    EXPECT_TRUE(!second && second.error().message() == "changed its mind");
    bool thrown = false;
    try {
      (void)co_await transact(this->db(), scope);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
    EXPECT_EQ(co_await this->count(), 1);
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_read_sees_every_write_that_was_acknowledged_before_it) {
  const auto body = [this]() -> Task<void> {
    for (int id = 1; id <= 50; ++id) {
      EXPECT_EQ(co_await this->count(), id - 1);  // a snapshot of this turn is open here
      co_await this->add(sample(id));
      EXPECT_EQ(co_await this->count(), id);
    }
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_thousand_callers_at_once_are_all_served) {
  constexpr int callers = 1000;
  int good = 0;
  const auto call = [&](int id) -> Task<void> {
    const auto insert = co_await this->db().execute(
        "INSERT INTO users VALUES ($1, $2, NULL, 0, 0, NULL, NULL, 0)", id % 900, "a");
    const auto found = co_await this->db().template query_one<std::int64_t>(
        "SELECT id FROM users WHERE id = $1", id % 900);
    EXPECT_TRUE(found && *found && **found == id % 900);
    good += insert ? 1 : 0;
  };
  std::vector<Task<void>> tasks;
  for (int id = 0; id < callers; ++id) tasks.push_back(call(id));
  for (Task<void>& task : tasks) this->loop_.start(task);
  for (const Task<void>& task : tasks) {
    while (!task.done()) this->loop_.turn();
  }
  EXPECT_EQ(good, 900) << "one that fails does not undo the others";
  EXPECT_EQ(this->run(this->count()), 900);
}

TYPED_TEST_P(DatabaseSuite, a_stream_gives_every_row_once_and_in_order) {
  const auto body = [this]() -> Task<void> {
    auto rows = this->db().template stream<std::tuple<std::int64_t, std::string>>(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) "
        "SELECT i, CAST($2 AS TEXT) FROM n",
        1000, std::string("kept"));
    std::int64_t expected = 1;
    while (true) {
      const auto row = co_await rows.next();
      EXPECT_TRUE(row) << row.error().describe();
      if (!row || !*row) break;
      EXPECT_EQ(**row, std::tuple(expected, "kept"));
      ++expected;
    }
    EXPECT_EQ(expected, 1001);
    const auto behind = co_await rows.next();
    EXPECT_TRUE(behind && !*behind);
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_stream_is_of_one_snapshot_and_may_be_left_at_any_row) {
  const auto body = [this]() -> Task<void> {
    const auto filled = co_await this->db().execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
        "INSERT INTO users SELECT i, 'a', NULL, 0, 0, NULL, NULL, 0 FROM n");
    EXPECT_TRUE(filled && *filled == 300);
    {
      auto rows = this->db().template stream<std::int64_t>("SELECT id FROM users ORDER BY id");
      const auto first = co_await rows.next();
      EXPECT_TRUE(first && *first && **first == 1);
      EXPECT_TRUE(co_await this->db().execute("DELETE FROM users"));
      int more = 0;
      for (; more < 250; ++more) {
        const auto row = co_await rows.next();
        if (!row || !*row) break;
      }
      EXPECT_EQ(more, 250);
      EXPECT_EQ(this->db().statistics().streams_open, 1u);
    }
    EXPECT_EQ(this->db().statistics().streams_open, 0u);
    auto wrong = this->db().template stream<std::int64_t>("SELECT nothing FROM nowhere");
    const auto row = co_await wrong.next();
    EXPECT_TRUE(!row && row.error().kind() == Kind::syntax);
    const auto after = co_await wrong.next();
    EXPECT_TRUE(after && !*after);
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, a_deadline_ends_a_statement_that_runs) {
  const auto body = [this]() -> Task<void> {
    const auto quick = this->db().within(milliseconds(30));
    const auto read = co_await quick.template query_one<std::int64_t>(endless);
    EXPECT_TRUE(!read && read.error().kind() == Kind::timeout) << "a read";
    const auto write = co_await quick.execute(endless_write);
    EXPECT_TRUE(!write && write.error().kind() == Kind::timeout) << "a write";
    EXPECT_EQ(co_await this->count(), 0);
    co_await this->add(sample(1));
  };
  this->run(body());
}

TYPED_TEST_P(DatabaseSuite, destroying_a_coroutine_cancels_what_it_waits_for) {
  const auto read = [this]() -> Task<void> {
    (void)co_await this->db().template query_one<std::int64_t>(endless);
  };
  const auto write = [this](int id) -> Task<void> { co_await this->add(sample(id)); };
  const auto scope = [this]() -> Task<void> {
    auto transaction = co_await this->db().begin();
    if (!transaction) co_return;
    (void)co_await transaction->execute("DELETE FROM users");
    (void)co_await transaction->template query_one<std::int64_t>(endless);
  };
  for (int round = 0; round < 20; ++round) {
    auto reading = read();
    auto writing = write(round);
    auto holding = scope();
    EXPECT_FALSE(this->loop_.start(reading));
    EXPECT_FALSE(this->loop_.start(writing));
    EXPECT_FALSE(this->loop_.start(holding));
    for (int turn = 0; turn < round % 3; ++turn) this->loop_.turn();
  }
  this->run(this->add(sample(1000)));  // a cancelled call delays no other one
  const auto found = this->run(this->count());
  EXPECT_GE(found, 1);
  EXPECT_LE(found, 21);
}

TYPED_TEST_P(DatabaseSuite, a_statement_that_runs_ends_when_nobody_waits_for_it) {
  int began = 0;
  const auto within = [&]() -> Task<void> {
    auto transaction = co_await this->db().begin();
    EXPECT_TRUE(transaction);
    if (!transaction) co_return;
    ++began;
    (void)co_await transaction->template query_one<std::int64_t>(endless);
  };
  const auto write = [&]() -> Task<void> {
    ++began;
    (void)co_await this->db().execute(endless_write);
  };
  for (const bool in_transaction : {true, false}) {
    {
      Task<void> task = in_transaction ? within() : write();
      EXPECT_FALSE(this->loop_.start(task));
      while (began == (in_transaction ? 0 : 1)) this->loop_.turn();
      // No backend tells that a statement runs. A time that is too short proves less, and still
      // passes.
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    this->run(this->add(sample(in_transaction)));
  }
  EXPECT_EQ(this->run(this->count()), 2);
}

REGISTER_TYPED_TEST_SUITE_P(
    DatabaseSuite, a_described_struct_goes_in_as_parameters_and_comes_out_as_a_row,
    types_with_a_text_form_are_columns_and_parameters_of_text,
    vectors_and_ranges_are_columns_and_parameters_of_text,
    tuples_scalars_and_optionals_are_rows_too, an_empty_text_is_not_null_and_null_is_a_parameter,
    a_parameter_may_stand_anywhere_and_more_than_once,
    a_column_that_does_not_fit_is_an_error_that_names_it,
    a_violated_constraint_says_which_and_never_a_value,
    what_is_no_statement_of_the_program_is_refused,
    a_write_says_how_many_rows_and_returns_what_it_is_asked_to,
    a_transaction_is_done_whole_when_it_is_committed,
    a_transaction_that_is_destroyed_or_rolled_back_did_nothing,
    a_transaction_with_a_failed_statement_can_only_be_rolled_back,
    a_scope_commits_on_success_and_rolls_back_otherwise,
    a_read_sees_every_write_that_was_acknowledged_before_it,
    a_thousand_callers_at_once_are_all_served, a_stream_gives_every_row_once_and_in_order,
    a_stream_is_of_one_snapshot_and_may_be_left_at_any_row, a_deadline_ends_a_statement_that_runs,
    destroying_a_coroutine_cancels_what_it_waits_for,
    a_statement_that_runs_ends_when_nobody_waits_for_it);

}  // namespace katana::database::suite

// SPDX-License-Identifier: Apache-2.0
