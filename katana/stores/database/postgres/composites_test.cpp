// Composite types of PostgreSQL and described structs, on a real server.
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "katana/base/values/decimal.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;

enum class Kindness : std::uint8_t { mild, hot };
KATANA_DESCRIBE_ENUM(Kindness, mild, hot)

struct Address {
  std::string street;
  std::optional<int> zip;
  bool operator==(const Address&) const = default;
};
KATANA_DESCRIBE(Address, street, zip)

struct Shop {
  std::string name;
  Address home;
  std::vector<Address> branches;
  std::vector<std::string> tags;
  std::optional<Decimal> turnover;
  Kindness kindness = Kindness::mild;
  std::optional<Timestamp> opened;
  bool is_open = false;
  double score = 0;
  bool operator==(const Shop&) const = default;
};
KATANA_DESCRIBE(Shop, name, home, branches, tags, turnover, kindness, opened, is_open, score)

struct Line {
  std::int64_t id = 0;
  std::optional<Address> home;
  std::optional<Shop> shop;
  std::vector<Address> all;
  bool operator==(const Line&) const = default;
};
KATANA_DESCRIBE(Line, id, home, shop, all)

const Address odd{"a, (b) \"c\" \\ 'd' {e}\n\tü ", 7};

Shop odd_shop() {
  return {.name = "",
          .home = odd,
          .branches = {odd, {"", std::nullopt}},
          .tags = {"x\"y", "NULL", "", "\\"},
          .turnover = Decimal::parse("-12.30"),
          .kindness = Kindness::hot,
          .opened = TextForm<Timestamp>::parse("2024-02-29T12:00:00Z"),
          .is_open = true,
          .score = -0.25};
}

class CompositesTest : public PostgresTest {
 protected:
  void make_types() {
    open();
    for (const char* const text :
         {"CREATE TYPE kindness AS ENUM ('mild', 'hot')",
          "CREATE DOMAIN postal AS int CHECK (VALUE > 0)",
          "CREATE TYPE address AS (street text, zip postal)",
          // The fields are in another order than those of the struct.
          "CREATE TYPE shop AS (score float8, home address, name text, branches address[], tags "
          "text[], turnover numeric, opened timestamptz, is_open bool, kindness kindness)",
          "CREATE TABLE lines (id bigint, home address, shop shop, \"all\" address[])"}) {
      (void)ask(text);
    }
  }
};

TEST_F(CompositesTest, described_structs_go_in_and_come_out_as_they_were) {
  make_types();
  const auto body = [&]() -> Task<void> {
    const Line full{1, odd, odd_shop(), {odd, {"b", std::nullopt}}};
    const Line empty{2, std::nullopt, std::nullopt, {}};
    for (const Line& line : {full, empty}) {
      const auto added = co_await db().execute("INSERT INTO lines VALUES ($1, $2, $3, $4)", line);
      EXPECT_TRUE(added) << added.error().describe();
      const auto found =
          co_await db().query_one<Line>("SELECT * FROM lines WHERE id = $1", line.id);
      EXPECT_TRUE(found) << found.error().describe();
      if (found) {
        EXPECT_EQ(**found, line);
      }
    }
    // The server has understood the same.
    const auto street = co_await db().query_one<std::string>(
        "SELECT (shop).home.street || (shop).branches[2].street FROM lines WHERE id = 1");
    EXPECT_TRUE(street) << street.error().describe();
    if (street) {
      EXPECT_EQ(**street, odd.street);
    }
    const auto same = co_await db().query_one<std::int64_t>(
        "SELECT count(*) FROM lines WHERE home = $1::address AND \"all\"[1] = $1", std::tuple(odd));
    EXPECT_TRUE(same) << same.error().describe();
    if (same) {
      EXPECT_EQ(**same, 1);
    }
  };
  run(body());
}

TEST_F(CompositesTest, a_row_of_a_table_an_array_of_an_enum_and_a_stream_are_read) {
  make_types();
  const std::vector<Kindness> both = {Kindness::hot, Kindness::mild};
  const auto body = [&]() -> Task<void> {
    (void)co_await db().execute("INSERT INTO lines VALUES (1, $1)", std::tuple(Address{"a", 1}));
    const auto row = co_await db().query_one<std::tuple<Line, std::vector<Kindness>>>(
        "SELECT l, ARRAY['hot', 'mild']::kindness[] FROM lines AS l");
    EXPECT_FALSE(row) << "its array is null";
    EXPECT_THAT(row.error().describe(), HasSubstr("'l' has the field 'all', which is null"));
    (void)co_await db().execute("UPDATE lines SET \"all\" = '{}'");
    const auto again = co_await db().query_one<std::tuple<Line, std::vector<Kindness>>>(
        "SELECT l, $1::kindness[] FROM lines AS l", both);
    EXPECT_TRUE(again) << again.error().describe();
    if (again) {
      EXPECT_EQ(std::get<0>(**again), (Line{1, Address{"a", 1}, std::nullopt, {}}));
      EXPECT_EQ(std::get<1>(**again), both);
    }
    auto stream = db().stream<std::optional<Address>>(
        "SELECT h FROM (VALUES ($1::address), (NULL)) AS v (h)", std::tuple(odd));
    const auto first = co_await stream.next();
    EXPECT_TRUE(first && *first && **first == odd) << "first";
    const auto second = co_await stream.next();
    EXPECT_TRUE(second && *second && !**second) << "null";
  };
  run(body());
}

struct Wrong {
  std::string street;
  std::string zip;
};
KATANA_DESCRIBE(Wrong, street, zip)
struct More {
  std::string street;
  int number = 0;
};
KATANA_DESCRIBE(More, street, number)

TEST_F(CompositesTest, what_does_not_fit_names_the_column_and_the_field) {
  make_types();
  const auto body = [&]() -> Task<void> {
    const auto wrong =
        co_await db().query_one<std::tuple<Wrong>>("SELECT ROW('a', 1)::address AS home");
    EXPECT_THAT(wrong.error().describe(),
                HasSubstr("'home' has the field 'zip', which is no text"));
    const auto more =
        co_await db().query_one<std::tuple<More>>("SELECT ROW('a', 1)::address AS home");
    EXPECT_THAT(more.error().describe(), HasSubstr("'home' has no field 'number'"));
    const auto sent = co_await db().execute("SELECT $1::address", std::tuple(More{"a", 1}));
    EXPECT_EQ(kind_of(sent), "invalid value");
    EXPECT_THAT(sent.error().describe(),
                HasSubstr("parameter $1 has the field 'number', which the type 'address' has not"));
    const auto fewer = co_await db().execute("SELECT $1::shop", std::tuple(Address{"a", 1}));
    EXPECT_THAT(fewer.error().describe(), HasSubstr("which the type 'shop' has not"));
    const auto checked = co_await db().execute("SELECT $1::address", std::tuple(Address{"a", 0}));
    EXPECT_FALSE(checked) << "the domain refuses it";
    (void)ask("CREATE TYPE placed AS (name text, home_at point)");
    const auto point =
        co_await db().query_one<std::tuple<Address>>("SELECT NULL::placed AS placed");
    EXPECT_THAT(point.error().describe(),
                HasSubstr("column 1 of the result has the type 'placed', whose field 'home_at' is "
                          "of the type 'point', which has no value here"));
    const auto record = co_await db().query_one<std::tuple<Address>>("SELECT ROW('a', 1)");
    EXPECT_THAT(record.error().describe(), HasSubstr("the type 'record'"));
  };
  run(body());
}

TEST_F(CompositesTest, a_type_that_was_altered_is_read_as_it_is_now) {
  open([](Options& options) { options.connections_max = 1; });
  for (const char* const text :
       {"CREATE TYPE address AS (street text, zip int)", "CREATE TABLE homes (home address)"}) {
    (void)ask(text);
  }
  constexpr Sql read = "SELECT home FROM homes";
  const auto body = [&]() -> Task<void> {
    EXPECT_TRUE(co_await db().execute("INSERT INTO homes VALUES ($1)", std::tuple(odd)));
    const auto before = co_await db().query_one<std::tuple<Address>>(read);
    EXPECT_TRUE(before) << before.error().describe();
    (void)ask("ALTER TYPE address ADD ATTRIBUTE number int");
    const auto after = co_await db().query_one<std::tuple<Address>>(read);
    EXPECT_TRUE(after) << after.error().describe();
    (void)ask("ALTER TYPE address DROP ATTRIBUTE zip");
    const auto gone = co_await db().query_one<std::tuple<Address>>(read);
    EXPECT_FALSE(gone);
    EXPECT_THAT(gone.error().describe(), HasSubstr("'home' has no field 'zip'"));
  };
  run(body());
}

// A function that writes has run, though its row was not understood.
TEST_F(CompositesTest, what_is_no_plain_read_runs_once_whatever_became_of_its_type) {
  open([](Options& options) { options.connections_max = 1; });
  for (const char* const text :
       {"CREATE TYPE address AS (street text, zip int)", "CREATE TABLE calls (n int)",
        "CREATE FUNCTION call() RETURNS address LANGUAGE plpgsql AS $f$ BEGIN INSERT INTO calls "
        "VALUES (1); RETURN NULL::address; END $f$",
        "CREATE FUNCTION shown() RETURNS address LANGUAGE plpgsql AS $f$ DECLARE a address; BEGIN "
        "INSERT INTO calls VALUES (1); a.street := 'a'; RETURN a; END $f$"}) {
    (void)ask(text);
  }
  const auto body = [&]() -> Task<void> {
    EXPECT_TRUE(co_await db().query_one<std::tuple<Address>>("SELECT shown() AS home"));
    (void)ask("ALTER TYPE address ADD ATTRIBUTE number int");
    const auto called = co_await db().query_one<std::tuple<Address>>("SELECT shown() AS home");
    if (!called) {
      EXPECT_THAT(called.error().describe(), HasSubstr("'home' has another number"));
    }
    EXPECT_EQ(ask("SELECT count(*) FROM calls"), "2");
    EXPECT_TRUE(co_await db().query_one<std::tuple<Address>>("SELECT shown() AS home"));
  };
  run(body());
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
