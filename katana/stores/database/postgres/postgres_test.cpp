#include "katana/stores/database/postgres/postgres.hpp"

#include <chrono>
#include <set>
#include <thread>
#include <tuple>

#include "katana/base/values/decimal.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/duration_text.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"
#include "katana/stores/database/range.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;

enum class Mood : std::uint8_t { glad, sad };
KATANA_DESCRIBE_ENUM(Mood, glad, sad)

struct Everything {
  bool yes = false;
  std::int16_t small = 0;
  std::int32_t middle = 0;
  std::int64_t big = 0;
  float single_precision = 0;
  double double_precision = 0;
  std::string text;
  std::vector<std::byte> octets;
  Decimal amount;
  Timestamp at;
  Date day{std::chrono::year(2000), std::chrono::month(1), std::chrono::day(1)};
  std::chrono::microseconds lasts{};
  Uuid id;
  Mood mood = Mood::glad;
  std::string plain_json;
  std::string binary_json;
  std::optional<std::int32_t> nothing;
  bool operator==(const Everything&) const = default;
};
KATANA_DESCRIBE(Everything, yes, small, middle, big, single_precision, double_precision, text,
                octets, amount, at, day, lasts, id, mood, plain_json, binary_json, nothing)

TEST_F(PostgresTest, every_type_goes_in_and_comes_out_as_it_was) {
  open();
  const Everything given{.yes = true,
                         .small = -32'768,
                         .middle = 2'147'483'647,
                         .big = std::numeric_limits<std::int64_t>::min(),
                         .single_precision = -0.5F,
                         .double_precision = 1e300,
                         .text = "",
                         .octets = {std::byte{0}, std::byte{255}},
                         .amount = *Decimal::parse("-12345678901234567890.1230"),
                         .at = *TextForm<Timestamp>::parse("1969-12-31T23:59:59.999999Z"),
                         .day = *TextForm<Date>::parse("2024-02-29"),
                         .lasts = std::chrono::hours(25) + std::chrono::microseconds(1),
                         .id = Uuid::random(),
                         .mood = Mood::sad,
                         .plain_json = R"({"a": 1})",
                         .binary_json = R"({"a": 1})",
                         .nothing = std::nullopt};
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TYPE mood AS ENUM ('glad', 'sad')");
    co_await must(
        "CREATE TABLE everything (yes BOOL, small INT2, middle INT4, big INT8, single_precision "
        "FLOAT4, double_precision FLOAT8, text VARCHAR(10), octets BYTEA, amount NUMERIC, at "
        "TIMESTAMPTZ, day DATE, lasts INTERVAL, id UUID, mood MOOD, plain_json JSON, binary_json "
        "JSONB, nothing INT4)");
    const auto added = co_await db().execute(
        "INSERT INTO everything VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
        "$14, $15, $16, $17)",
        given);
    EXPECT_TRUE(added) << added.error().describe();
    const auto found =
        co_await db().query_one<Everything>("SELECT * FROM everything WHERE id = $1", given.id);
    EXPECT_TRUE(found) << found.error().describe();
    if (found && *found) {
      EXPECT_EQ(**found, given);
    }
  };
  run(body());
}

struct Arrays {
  std::vector<std::optional<std::string>> names;
  std::vector<std::int16_t> small;
  std::vector<std::int64_t> big;
  std::vector<double> weights;
  std::vector<bool> flags;
  std::vector<Decimal> amounts;
  std::vector<Timestamp> times;
  std::vector<Uuid> ids;
  std::vector<std::vector<int>> grid;
  std::vector<std::string> documents;
  Range<int> numbers;
  Range<Decimal> prices;
  Range<Date> days;
  Range<Timestamp> hours;
  bool operator==(const Arrays&) const = default;
};
KATANA_DESCRIBE(Arrays, names, small, big, weights, flags, amounts, times, ids, grid, documents,
                numbers, prices, days, hours)

TEST_F(PostgresTest, arrays_and_ranges_go_in_and_come_out_as_they_were) {
  open();
  const auto day = *TextForm<Date>::parse("2024-02-29");
  const auto hour = *TextForm<Timestamp>::parse("1999-12-31T23:59:59.5Z");
  const Arrays full{.names = {"a", std::nullopt, "", "NULL", "q\"b\\c,{}\n ü"},
                    .small = {-32'768, 32'767},
                    .big = {std::numeric_limits<std::int64_t>::min()},
                    .weights = {0.1, -1e300, std::numeric_limits<double>::infinity()},
                    .flags = {true, false},
                    .amounts = {*Decimal::parse("-1.50"), *Decimal::parse("12345678901234567890")},
                    .times = {hour},
                    .ids = {Uuid::random(), Uuid::random()},
                    .grid = {{1, 2}, {3, 4}},
                    .documents = {R"({"a": "b"})"},
                    .numbers = {.lower = 1, .upper = 10},
                    .prices = {.upper = *Decimal::parse("9.99"), .has_lower = false},
                    .days = {.lower = day},
                    .hours = {.lower = hour, .upper = hour, .has_upper = true}};
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TYPE mood AS ENUM ('glad', 'sad')");
    co_await must(
        "CREATE TABLE arrays (names TEXT[], small INT2[], big INT8[], weights FLOAT8[], flags "
        "BOOL[], amounts NUMERIC[], times TIMESTAMPTZ[], ids UUID[], grid INT4[], documents "
        "JSONB[], numbers INT4RANGE, prices NUMRANGE, days DATERANGE, hours TSTZRANGE)");
    const auto added = co_await db().execute(
        "INSERT INTO arrays VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        full);
    EXPECT_TRUE(added) << added.error().describe();
    const auto found = co_await db().query_one<Arrays>("SELECT * FROM arrays");
    EXPECT_TRUE(found) << found.error().describe();
    if (found && *found) {
      EXPECT_EQ(**found, full);
    }
    const auto any = co_await db().query_one<std::int64_t>(
        "SELECT count(*) FROM arrays WHERE $1 = ANY (ids) AND small[1] = ANY ($2) AND numbers @> 5",
        full.ids[1], std::vector<int>{7, -32'768});
    EXPECT_TRUE(any && **any == 1);
    const auto moods =
        co_await db().query_one<std::vector<Mood>>("SELECT ARRAY['sad', 'glad']::mood[] AS moods");
    EXPECT_TRUE(moods && **moods == (std::vector<Mood>{Mood::sad, Mood::glad}));
    const auto none = co_await db().query_one<std::vector<int>>("SELECT '{}'::int[] AS none");
    EXPECT_TRUE(none && (**none).empty());
    const auto nothing = co_await db().query_one<Range<int>>("SELECT '[3,3)'::int4range AS none");
    EXPECT_TRUE(nothing && (**nothing).is_empty);
    const auto hole = co_await db().query_one<std::vector<int>>("SELECT ARRAY[1, NULL] AS list");
    EXPECT_EQ(kind_of(hole), "mismatch");
    EXPECT_TRUE(!hole && hole.error().describe().contains("'list' is an array with an element"));
    const auto own = co_await db().query_one<std::int64_t>("SELECT cardinality($1::int[])",
                                                           std::string("{1,2,3}"));
    EXPECT_TRUE(own && **own == 3) << "a literal of the server's own";
  };
  run(body());
}

TEST_F(PostgresTest, an_unknown_type_is_a_mismatch_that_names_column_and_type) {
  open();
  const auto body = [&]() -> Task<void> {
    const auto point = co_await db().query<std::string>("SELECT point(1, 2) AS place");
    EXPECT_EQ(kind_of(point), "mismatch");
    if (!point) {
      EXPECT_THAT(point.error().describe(),
                  HasSubstr("column 1 of the result has the type 'point'"));
    }
    const auto cast = co_await db().query_one<std::string>("SELECT point(1, 2)::text AS place");
    EXPECT_TRUE(cast && **cast == "(1,2)");
    const auto forever = co_await db().query_one<Timestamp>("SELECT 'infinity'::timestamptz AS t");
    EXPECT_EQ(kind_of(forever), "mismatch");
    const auto slept = co_await db().execute("SELECT pg_sleep(0)");
    EXPECT_TRUE(slept) << "void is a type that is passed over";
  };
  run(body());
}

TEST_F(PostgresTest, a_refused_value_is_its_own_kind_and_is_not_repeated) {
  open();
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TABLE small (id INT2, name VARCHAR(3), kind UUID)");
    const auto range = co_await db().execute("INSERT INTO small (id) VALUES ($1)", 40'000);
    EXPECT_EQ(kind_of(range), "invalid value");
    EXPECT_THAT(range.error().describe(), HasSubstr("parameter $1 is out of range"));
    const auto zero =
        co_await db().execute("INSERT INTO small (name) VALUES ($1)", std::string("a\0b", 3));
    EXPECT_EQ(kind_of(zero), "invalid value");
    const auto uuid = co_await db().execute("INSERT INTO small (kind) VALUES ($1)", "no uuid");
    EXPECT_EQ(kind_of(uuid), "invalid value");
    const auto long_text = co_await db().execute("INSERT INTO small (name) VALUES ($1)", "secret");
    EXPECT_EQ(kind_of(long_text), "invalid value");
    EXPECT_THAT(long_text.error().describe(), testing::Not(HasSubstr("secret")));
    EXPECT_EQ(long_text.error().code(), Code::invalid_argument);
  };
  run(body());
}

TEST_F(PostgresTest, a_violation_between_two_inserts_of_one_turn_undoes_neither) {
  open([](Options& options) { options.connections_max = 1; });
  run(must("CREATE TABLE numbers (id INT PRIMARY KEY)"));
  std::vector<std::string> kinds(3);
  const auto add = [&](std::size_t caller, int id) -> Task<void> {
    kinds[caller] = kind_of(co_await db().execute("INSERT INTO numbers VALUES ($1)", id));
  };
  for (int round = 0; round < 10; ++round) {
    std::vector<Task<void>> tasks;
    tasks.push_back(add(0, 3 * round));
    tasks.push_back(add(1, 3 * round));
    tasks.push_back(add(2, 3 * round + 1));
    run_all(tasks);
    EXPECT_THAT(kinds, testing::ElementsAre("done", "constraint violation", "done"));
  }
  EXPECT_EQ(ask("SELECT count(*) FROM numbers"), "20");
}

TEST_F(PostgresTest, a_result_beyond_the_limit_is_refused_and_harms_nobody_else) {
  open([](Options& options) {
    options.rows_max = 100;
    options.connections_max = 1;
  });
  const auto body = [&]() -> Task<void> {
    const auto most = co_await db().query<int>("SELECT generate_series(1, 100)");
    EXPECT_TRUE(most && most->size() == 100);
    const auto more = co_await db().query<int>("SELECT generate_series(1, 20000)");
    EXPECT_EQ(kind_of(more), "too large");
    const auto next = co_await db().query_one<int>("SELECT 1");
    EXPECT_TRUE(next && **next == 1);
  };
  run(body());
}

TEST_F(PostgresTest, many_callers_share_few_connections) {
  open([](Options& options) { options.connections_max = 3; });
  int good = 0;
  const auto call = [&]() -> Task<void> {
    const auto slept = co_await db().query_one<int>("SELECT 1 FROM pg_sleep(0.002)");
    good += slept ? 1 : 0;
  };
  std::vector<Task<void>> tasks;
  for (int caller = 0; caller < 300; ++caller) tasks.push_back(call());
  run_all(tasks);
  EXPECT_EQ(good, 300);
  EXPECT_LE(std::stoi(sessions()), 3);
  EXPECT_LE(db().statistics().readers, 3u);
}

TEST_F(PostgresTest, a_slow_statement_does_not_hold_up_others) {
  open();
  run(must("SELECT 1"));
  const auto sleeps = [&]() -> Task<void> {
    EXPECT_FALSE(co_await db().execute("SELECT pg_sleep(600)")) << "it is cancelled";
  };
  Task<void> sleeping = sleeps();
  EXPECT_FALSE(loop_.start(sleeping));
  for (int count = 0; count < 10; ++count) run(must("SELECT 2"));
  EXPECT_FALSE(sleeping.done());
  const std::string cancel =
      "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE state = 'active' AND "
      "application_name = 'katana' AND query LIKE '%pg_sleep(600)%'";
  while (std::stoi(ask(cancel)) == 0) loop_.turn();
  while (!sleeping.done()) loop_.turn();
}

TEST_F(PostgresTest, a_statement_that_is_not_known_to_be_quick_holds_up_nobody_of_its_turn) {
  open();
  run(must("SELECT 3"));
  std::vector<std::string> ended;
  const auto call = [&](std::string name, SqlFor<> sql) -> Task<void> {
    co_await must(sql);
    ended.push_back(name);
  };
  std::vector<Task<void>> tasks;
  tasks.push_back(call("slow", "SELECT pg_sleep(0.5)"));
  tasks.push_back(call("quick", "SELECT 3"));
  run_all(tasks);
  EXPECT_THAT(ended, testing::ElementsAre("quick", "slow"));
}

TEST_F(PostgresTest, idle_connections_are_closed_but_for_one) {
  open([](Options& options) { options.idle_timeout = milliseconds(50); });
  std::set<int> backends;
  const auto body = [&]() -> Task<void> {
    auto first = co_await db().begin();
    auto second = co_await db().begin();
    if (!first || !second) {
      ADD_FAILURE() << (first ? second : first).error().describe();
      co_return;
    }
    for (auto* transaction : {&*first, &*second}) {
      backends.insert(**co_await transaction->query_one<int>("SELECT pg_backend_pid()"));
    }
  };
  run(body());
  for (int round = 0; round < 3000 && db().statistics().readers > 1; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(db().statistics().readers, 1u) << "by which its health is known";
  EXPECT_TRUE(db().health());
  const auto again = [&]() -> Task<void> {
    const int backend = **co_await db().query_one<int>("SELECT pg_backend_pid()");
    EXPECT_TRUE(backends.contains(backend)) << "kept, not closed and opened again";
  };
  run(again());
}

TEST_F(PostgresTest, statements_are_kept_prepared_up_to_a_limit) {
  open([](Options& options) {
    options.statements_max = 2;
    options.connections_max = 1;
  });
  const auto body = [&]() -> Task<void> {
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(co_await db().query_one<int>("SELECT 1"));
      EXPECT_TRUE(co_await db().query_one<int>("SELECT 2"));
      EXPECT_TRUE(co_await db().query_one<int>("SELECT 3"));
    }
    const auto kept =
        co_await db().query_one<int>("SELECT count(*)::int FROM pg_prepared_statements");
    EXPECT_TRUE(kept && **kept <= 3) << "itself included";
  };
  run(body());
}

TEST_F(PostgresTest, a_plan_that_a_migration_made_stale_is_made_anew) {
  open([](Options& options) { options.connections_max = 1; });
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TABLE things (id INT)");
    co_await must("INSERT INTO things VALUES (7)");
    for (int round = 0; round < 2; ++round) {
      const auto all = co_await db().query<std::int64_t>("SELECT * FROM things");
      EXPECT_TRUE(all && all->at(0) == 7);
    }
    (void)ask("ALTER TABLE things ALTER COLUMN id TYPE bigint");
    const auto all = co_await db().query<std::int64_t>("SELECT * FROM things");
    EXPECT_TRUE(all) << all.error().describe();
    const auto again = co_await db().query<std::int64_t>("SELECT * FROM things");
    EXPECT_TRUE(again && again->at(0) == 7);
  };
  run(body());
}

TEST_F(PostgresTest, transactions_that_conflict_may_be_run_again) {
  open();
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TABLE counts (id INT PRIMARY KEY, n INT)");
    co_await must("INSERT INTO counts VALUES (1, 0)");
    auto first = co_await db().begin({.isolation = Isolation::serializable});
    auto second = co_await db().begin({.isolation = Isolation::serializable});
    for (Transaction* each : {&*first, &*second}) {
      EXPECT_TRUE(co_await each->query_one<int>("SELECT n FROM counts WHERE id = 1"));
    }
    EXPECT_TRUE(co_await first->execute("UPDATE counts SET n = n + 1 WHERE id = 1"));
    EXPECT_TRUE(co_await first->commit());
    const auto conflict = co_await second->execute("UPDATE counts SET n = n + 1 WHERE id = 1");
    EXPECT_EQ(kind_of(conflict), "conflict");
    EXPECT_TRUE(!conflict && conflict.error().retryable());
    EXPECT_EQ(kind_of(co_await db().execute("SET TRANSACTION READ ONLY")), "syntax");
  };
  run(body());
}

// The body may return any error for a conflict, its own included: the transaction knows the cause.
TEST_F(PostgresTest, a_scope_that_a_conflict_undid_runs_again_and_no_more_often_than_it_may) {
  open();
  int attempts = 0, disturbs = 2;
  auto count_up = [&](Transaction& within) -> Task<katana::Result<int>> {
    ++attempts;
    const auto seen = co_await within.query_one<int>("SELECT n FROM counts WHERE id = 1");
    if (!seen) co_return std::unexpected(seen.error());
    if (disturbs > 0) {
      --disturbs;
      co_await must("UPDATE counts SET n = n + 10 WHERE id = 1");
    }
    const auto set = co_await within.execute("UPDATE counts SET n = $1 WHERE id = 1", **seen + 1);
    if (!set) co_return katana::fail(Code::internal, "it did not work");
    co_return **seen + 1;
  };
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TABLE counts (id INT PRIMARY KEY, n INT)");
    co_await must("INSERT INTO counts VALUES (1, 0)");
    const TransactionOptions options{.isolation = Isolation::repeatable_read};
    const auto done = co_await transact(db(), count_up, options);
    EXPECT_TRUE(done && *done == 21) << "of the third attempt";
    EXPECT_EQ(attempts, 3);
    attempts = 0;
    disturbs = 100;
    const auto never = co_await transact(db(), count_up, options);
    EXPECT_TRUE(!never && never.error().message() == "it did not work");
    EXPECT_EQ(attempts, 5);
    attempts = 0;
    disturbs = 1;
    const auto once = co_await transact(
        db(), count_up, {.isolation = Isolation::repeatable_read, .attempts_max = 1});
    EXPECT_FALSE(once);
    EXPECT_EQ(attempts, 1);
  };
  run(body());
}

TEST_F(PostgresTest, rows_that_go_into_a_table_are_counted_and_none_is_missed) {
  open([](Options& options) { options.connections_max = 1; });
  const auto body = [&]() -> Task<void> {
    const auto session = co_await db().query_one<int>("SELECT pg_backend_pid()");
    co_await must("CREATE TABLE numbers AS SELECT n FROM generate_series(1, 3) n");
    co_await must("SELECT n INTO more FROM numbers");
    const auto none = co_await db().query_one<int>("SELECT n FROM more WHERE n > 3");
    EXPECT_TRUE(none && !*none);
    const auto all = co_await db().query<int>("SELECT n FROM more ORDER BY n");
    EXPECT_TRUE(all) << kind_of(all);
    if (all) {
      EXPECT_THAT(*all, testing::ElementsAre(1, 2, 3));
    }
    EXPECT_TRUE(co_await db().execute("SELECT FROM more")) << "rows without a column";
    const auto then = co_await db().query_one<int>("SELECT pg_backend_pid()");
    EXPECT_TRUE(session && then && **session == **then) << "no call has cost the connection";
  };
  run(body());
  EXPECT_EQ(db().statistics().outages, 0u);
}

TEST_F(PostgresTest, of_two_that_deadlock_each_is_done_in_the_end) {
  open();
  int ready = 0;
  const auto both = [&](int from, int to) -> Task<void> {
    auto scope = [&](Transaction& within) -> Task<database::Result<std::int64_t>> {
      const auto first = co_await within.execute("UPDATE pair SET n = n + 1 WHERE id = $1", from);
      if (!first) co_return first;
      ++ready;
      // The other one has its row, too.
      while (ready < 2) (void)co_await db().query_one<int>("SELECT 1");
      co_return co_await within.execute("UPDATE pair SET n = n + 1 WHERE id = $1", to);
    };
    const auto done = co_await transact(db(), scope);
    EXPECT_TRUE(done) << done.error().describe();
  };
  const auto tables = [&]() -> Task<void> {
    co_await must("CREATE TABLE pair (id INT PRIMARY KEY, n INT)");
    co_await must("INSERT INTO pair VALUES (1, 0), (2, 0)");
  };
  run(tables());
  std::vector<Task<void>> tasks;
  tasks.push_back(both(1, 2));
  tasks.push_back(both(2, 1));
  run_all(tasks);
  EXPECT_EQ(ask("SELECT sum(n) FROM pair"), "4");
  EXPECT_GE(ready, 3) << "one ran again";
}

TEST_F(PostgresTest, a_transaction_has_the_mode_that_it_was_begun_with) {
  open();
  const auto mode_of = [&](TransactionOptions options) -> Task<std::string> {
    auto transaction = co_await db().begin(options);
    const auto isolation =
        co_await transaction->query_one<std::string>("SHOW transaction_isolation");
    const auto reads = co_await transaction->query_one<std::string>("SHOW transaction_read_only");
    const auto defers = co_await transaction->query_one<std::string>("SHOW transaction_deferrable");
    co_return **isolation + " " + **reads + " " + **defers;
  };
  EXPECT_EQ(run(mode_of({})), "read committed off off");
  EXPECT_EQ(run(mode_of({.isolation = Isolation::repeatable_read})), "repeatable read off off");
  EXPECT_EQ(
      run(mode_of({.isolation = Isolation::serializable, .read_only = true, .deferrable = true})),
      "serializable on on");
}

TEST_F(PostgresTest, a_commit_that_a_deferred_constraint_refuses_did_nothing) {
  open();
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TABLE a (id INT UNIQUE DEFERRABLE INITIALLY DEFERRED)");
    auto transaction = co_await db().begin();
    EXPECT_TRUE(co_await transaction->execute("INSERT INTO a VALUES (1)"));
    EXPECT_TRUE(co_await transaction->execute("INSERT INTO a VALUES (1)"));
    EXPECT_EQ(kind_of(co_await transaction->commit()), "constraint violation");
    EXPECT_EQ(kind_of(co_await db().execute("INSERT INTO a VALUES (1), (1)")),
              "constraint violation")
        << "by itself, at its sync";
    EXPECT_EQ(ask("SELECT count(*) FROM a"), "0");
  };
  run(body());
}

TEST_F(PostgresTest, a_transaction_that_is_held_for_too_long_is_rolled_back) {
  open([](Options& options) { options.transaction_hold = milliseconds(30); });
  const auto body = [&]() -> Task<void> {
    co_await must("CREATE TABLE a (id INT)");
    auto transaction = co_await db().begin();
    EXPECT_TRUE(co_await transaction->execute("INSERT INTO a VALUES (1)"));
    for (int round = 0; round < 6000 && db().statistics().transactions_expired == 0; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(kind_of(co_await transaction->commit()), "failed transaction");
    EXPECT_EQ(ask("SELECT count(*) FROM a"), "0");
  };
  run(body());
}

TEST_F(PostgresTest, a_stream_is_not_read_on_while_nobody_asks) {
  open([](Options& options) { options.streams_max = 1; });
  const auto slowly = [&]() -> Task<void> {
    auto rows =
        db().stream<std::string>("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)");
    const auto first = co_await rows.next();
    EXPECT_TRUE(first && *first && (*first)->size() == 1000);
    std::string waits;
    for (int round = 0; round < 6000 && waits != "ClientWrite"; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      waits =
          ask("SELECT coalesce(max(wait_event), '') FROM pg_stat_activity WHERE query LIKE "
              "'SELECT repeat%'");
    }
    EXPECT_EQ(waits, "ClientWrite") << "the server waits for its reader";
    for (int row = 0; row < 1000; ++row) {
      const auto next = co_await rows.next();
      EXPECT_TRUE(next && *next && (*next)->size() == 1000);
      if (!next || !*next) co_return;
    }
  };
  run(slowly());
  run(must("SELECT 1"));
  const auto again = [&]() -> Task<void> {
    auto rows = db().stream<int>("SELECT generate_series(1, 3)");
    for (int row = 1; row <= 3; ++row) {
      const auto next = co_await rows.next();
      EXPECT_TRUE(next && *next && **next == row);
    }
    const auto end = co_await rows.next();
    EXPECT_TRUE(end && !*end);
    auto wrong =
        db().stream<int>("SELECT 1 / (generate_series - 300) FROM generate_series(1, 300)");
    std::string kind = "done";
    for (int row = 1; row <= 300 && kind == "done"; ++row) kind = kind_of(co_await wrong.next());
    EXPECT_EQ(kind, "invalid value");
  };
  run(again());
}

TEST_F(PostgresTest, a_stream_that_nobody_reads_loses_its_connection) {
  open([](Options& options) { options.stream_idle = milliseconds(30); });
  const auto body = [&]() -> Task<void> {
    auto rows = db().stream<int>("SELECT generate_series(1, 100000)");
    EXPECT_TRUE(co_await rows.next());
    std::string kind = "done";
    std::string held = "1";
    for (int round = 0; round < 6000 && held != "0"; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      held =
          ask("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT generate_series%'");
    }
    for (int row = 0; row < 1000 && kind == "done"; ++row) kind = kind_of(co_await rows.next());
    EXPECT_EQ(kind, "timeout");
  };
  run(body());
  EXPECT_EQ(db().statistics().streams_open, 0u);
}

TEST_F(PostgresTest, a_host_is_resolved_and_reached_over_tcp) {
  open({}, true);
  run(must("SELECT 1"));
  EXPECT_TRUE(db().health());
}

TEST_F(PostgresTest, a_call_that_waits_for_a_connection_has_a_deadline) {
  open([](Options& options) {
    options.connections_max = 1;
    options.wait_max = milliseconds(50);
  });
  const auto body = [&]() -> Task<void> {
    // A connect may take longer than wait_max while other work runs.
    std::string kind;
    for (int round = 0; round < 100 && kind != "done"; ++round) {
      kind = kind_of(co_await db().query_one<int>("SELECT 1"));
    }
    auto transaction = co_await db().begin();
    EXPECT_TRUE(transaction) << kind;
    if (!transaction) co_return;
    EXPECT_TRUE(co_await transaction->execute("SELECT 1"));
    EXPECT_EQ(kind_of(co_await db().query_one<int>("SELECT 1")), "unavailable");
    EXPECT_EQ(kind_of(co_await db().within(milliseconds(10)).query_one<int>("SELECT 1")),
              "timeout");
    EXPECT_EQ(kind_of(co_await db().begin()), "unavailable");
    EXPECT_TRUE(co_await transaction->commit());
    EXPECT_TRUE(co_await db().query_one<int>("SELECT 1"));
  };
  run(body());
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
