#include "katana/stores/database/postgres/copy.hpp"

#include <chrono>
#include <limits>
#include <thread>

#include "katana/stores/database/postgres/fake_server_test.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Person {
  std::int64_t id = 0;
  std::optional<std::string> name;
  double weight = 0;
  std::vector<std::byte> photo;
  bool active = false;
};
KATANA_DESCRIBE(Person, id, name, weight, photo, active)

class CopyTest : public PostgresTest {
 protected:
  void SetUp() override {
    open();
    const auto tables = [&]() -> Task<void> {
      co_await must(
          "CREATE TABLE people (id BIGINT PRIMARY KEY, name TEXT, weight DOUBLE PRECISION, photo "
          "BYTEA, active BOOL)");
    };
    run(tables());
  }
  // g++ 12 would destroy a temporary of `copy && co_await …` twice.
  Task<bool> put(database::Result<CopyIn>& copy, std::string data) {
    if (!copy) co_return false;
    const auto written = co_await copy->write(std::move(data));
    co_return written.has_value();
  }
  Task<bool> end(database::Result<CopyIn>& copy) {
    if (!copy) co_return false;
    const auto stored = co_await copy->finish();
    co_return stored.has_value();
  }
  // The data of a stream of COPY, in one piece; or the kind of its error.
  template <class T = std::string>
  Task<std::string> read(SqlFor<> statement) {
    auto rows = db().stream<T>(statement);
    std::string all;
    while (true) {
      auto row = co_await rows.next();
      if (!row) co_return std::string(kind_name(row.error().kind()));
      if (!*row) co_return all;
      all.append(reinterpret_cast<const char*>((*row)->data()), (*row)->size());
    }
  }
};

TEST_F(CopyTest, described_structs_go_in_as_lines_and_come_out_as_they_were) {
  const std::vector<Person> people = {
      {1,
       "tab\tline\nback\\slash\r\\N ü",
       0.5,
       {std::byte{0}, std::byte{255}, std::byte{92}},
       true},
      {2, std::nullopt, std::numeric_limits<double>::infinity(), {}, false},
      {3, "", -1e300, {std::byte{10}}, true}};
  const auto body = [&]() -> Task<void> {
    auto copy = co_await copy_in(db(), "COPY people FROM STDIN");
    EXPECT_TRUE(copy) << copy.error().describe();
    if (!copy) co_return;
    for (const Person& each : people) EXPECT_TRUE(co_await copy->write(copy_line(each)));
    EXPECT_EQ(ask("SELECT count(*) FROM people"), "0") << "before it is finished";
    const auto stored = co_await copy->finish();
    EXPECT_TRUE(stored && *stored == 3);
    const auto again = co_await copy->finish();
    EXPECT_EQ(kind_of(again), "syntax");
    const auto found = co_await db().query<Person>("SELECT * FROM people ORDER BY id");
    EXPECT_TRUE(found && found->size() == 3u);
    if (!found || found->size() != 3) co_return;
    for (std::size_t index = 0; index < 3; ++index) {
      EXPECT_EQ((*found)[index].name, people[index].name);
      EXPECT_EQ((*found)[index].weight, people[index].weight);
      EXPECT_EQ((*found)[index].photo, people[index].photo);
      EXPECT_EQ((*found)[index].active, people[index].active);
    }
  };
  run(body());
}

TEST_F(CopyTest, a_large_table_goes_out_and_in_again_in_each_format) {
  const auto body = [&]() -> Task<void> {
    co_await must(
        "INSERT INTO people SELECT i, repeat('n', 300) || i, i, NULL, true FROM "
        "generate_series(1, 5000) AS i");
    co_await must("CREATE TABLE others (LIKE people)");
    std::string text = co_await read("COPY people TO STDOUT");
    EXPECT_GT(text.size(), 1'500'000u);
    auto copy = co_await copy_in(db(), "COPY others FROM STDIN");
    EXPECT_TRUE(co_await put(copy, std::move(text)));
    EXPECT_TRUE(co_await end(copy));
    std::string csv = co_await read("COPY others TO STDOUT (FORMAT csv, HEADER)");
    EXPECT_TRUE(csv.starts_with("id,name,weight,photo,active\n1,nnn"));
    EXPECT_TRUE(co_await db().execute("TRUNCATE others"));
    copy = co_await copy_in(db(), "COPY others FROM STDIN (FORMAT csv, HEADER)");
    // Lines may be cut anywhere.
    for (std::size_t at = 0; copy && at < csv.size(); at += 100'001) {
      EXPECT_TRUE(co_await copy->write(csv.substr(at, 100'001)));
    }
    const auto lines = co_await copy->finish();
    EXPECT_TRUE(lines && *lines == 5000);
    std::string binary =
        co_await read<std::vector<std::byte>>("COPY others TO STDOUT (FORMAT binary)");
    EXPECT_TRUE(binary.starts_with("PGCOPY\n"));
    EXPECT_TRUE(co_await db().execute("TRUNCATE others"));
    copy = co_await copy_in(db(), "COPY others FROM STDIN (FORMAT binary)");
    EXPECT_TRUE(co_await put(copy, std::move(binary)));
    EXPECT_TRUE(co_await end(copy));
  };
  run(body());
  EXPECT_EQ(ask("SELECT count(*) FROM (TABLE people EXCEPT TABLE others) AS missing"), "0");
  EXPECT_EQ(ask("SELECT count(*) FROM others"), "5000");
}

TEST_F(CopyTest, what_the_server_objects_to_has_its_line_and_column_and_no_value) {
  const auto body = [&]() -> Task<void> {
    auto copy = co_await copy_in(db(), "COPY people (id, name) FROM STDIN");
    EXPECT_TRUE(co_await put(copy, "1\tone\n2\ttwo\nsecret\tthree\n"));
    const auto wrong = co_await copy->finish();
    EXPECT_EQ(kind_of(wrong), "invalid value");
    if (wrong) co_return;
    EXPECT_EQ(wrong.error().row(), 2u);
    EXPECT_THAT(wrong.error().describe(), HasSubstr("line 3 of the data, column id: "));
    EXPECT_THAT(wrong.error().describe(), Not(HasSubstr("secret")));
    copy = co_await copy_in(db(), "COPY people (id, name) FROM STDIN");
    EXPECT_TRUE(co_await put(copy, "1\tone\n1\tagain\n"));
    const auto twice = co_await copy->finish();
    EXPECT_EQ(kind_of(twice), "constraint violation");
    EXPECT_TRUE(!twice && twice.error().which() == "people.id" && twice.error().row() == 1u);
    const auto missing = co_await copy_in(db(), "COPY nowhere FROM STDIN");
    EXPECT_EQ(kind_of(missing), "syntax");
    EXPECT_EQ(kind_of(co_await db().execute("COPY people TO STDOUT")), "syntax");
  };
  run(body());
  EXPECT_EQ(ask("SELECT count(*) FROM people"), "0");
}

// A server that cannot send its notices stops reading.
TEST_F(CopyTest, notices_of_the_server_are_read_while_the_data_is_sent) {
  const auto body = [&]() -> Task<void> {
    co_await must(
        "CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', "
        "repeat('n', 20000); RETURN NEW; END $$");
    co_await must(
        "CREATE TRIGGER shouts BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION shout()");
    auto copy = co_await copy_in(db(), "COPY people (id, name) FROM STDIN");
    const std::string name(10'000, 'x');
    for (int row = 0; copy && row < 2000; ++row) {
      const auto written = co_await copy->write(fmt::format("{}\t{}\n", row, name));
      EXPECT_TRUE(written) << row;
      if (!written) co_return;
    }
    EXPECT_TRUE(co_await end(copy));
  };
  run(body());
  EXPECT_EQ(ask("SELECT count(*) FROM people"), "2000");
}

TEST_F(CopyTest, each_way_refuses_the_other) {
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await read("COPY people FROM STDIN"), "syntax");
    const auto out = co_await copy_in(db(), "COPY people TO STDOUT");
    EXPECT_EQ(kind_of(out), "syntax");
    EXPECT_EQ(kind_of(co_await copy_in(db(), "SELECT id FROM people")), "syntax");
    EXPECT_EQ(co_await read<std::vector<std::byte>>("COPY (VALUES (1)) TO STDOUT"), "mismatch");
    EXPECT_EQ(co_await read("COPY (VALUES (1), (2)) TO STDOUT"), "1\n2\n");
  };
  run(body());
}

TEST_F(CopyTest, one_that_is_destroyed_stores_nothing_and_its_session_ends) {
  const auto begun = [&]() -> Task<void> {
    auto copy = co_await copy_in(db(), "COPY people (id) FROM STDIN");
    EXPECT_TRUE(co_await put(copy, "1\n2\n"));
  };
  run(begun());
  const auto endless = [&]() -> Task<void> {
    auto rows = db().stream<std::string>(
        "COPY (SELECT repeat('x', 1000) FROM generate_series(1, 10000) AS a, "
        "generate_series(1, 10000) AS b) TO STDOUT");
    for (int row = 0; row < 300; ++row) EXPECT_TRUE(co_await rows.next());
  };
  run(endless());
  std::string left = "?";
  for (int round = 0; round < 2000 && left != "0"; ++round) {
    left = ask(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND state = 'active' AND "
        "datname = current_database()");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(left, "0");
  EXPECT_EQ(ask("SELECT count(*) FROM people"), "0");
  EXPECT_EQ(db().statistics().streams_open, 0u);
}

// The socket has all that write() accepted. The server reads less than the writer has. Therefore a
// writer that does not wait gets ahead of the socket.
TEST_F(CopyTest, a_server_that_does_not_read_stops_the_writer) {
  FakeServer server;
  auto opened = postgres::open(server.options());
  ASSERT_TRUE(opened) << opened.error().describe();
  constexpr std::size_t piece = 64 * 1024;
  constexpr std::size_t all = 16 * piece;
  std::size_t written = 0;
  std::size_t read = 0;
  const auto body = [&]() -> Task<void> {
    auto copy = co_await copy_in(*opened, "COPY people (id) FROM STDIN");
    EXPECT_TRUE(copy) << copy.error().describe();
    while (copy && written < all) {
      const auto taken = co_await copy->write(std::string(piece, ' '));
      EXPECT_TRUE(taken);
      if (!taken) co_return;
      written += piece;
      EXPECT_LE(written, read + server.unread_bytes());
    }
  };
  Task<void> task = body();
  ASSERT_FALSE(loop_.start(task));
  while (!task.done()) {
    loop_.run_messages();
    read += server.read_unread(1024);
    std::this_thread::yield();
  }
  EXPECT_EQ(written, all);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
