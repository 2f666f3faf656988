// micro_database: the cost of the database layer beside SQLite's own calls on the same file.
//
// Point reads are timed as processor time of the one thread that does all of it. Writes wait for
// the disk, and the clock times them. They are flushed (synchronous = FULL) to a file beside this
// program. Their figures depend on the disk as much as on the code: only the ratios are meaningful.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/base/values/described.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "lab/micro/database/bare.hpp"
#include "lab/micro/database/turns.hpp"
#include "lab/micro/micro.hpp"
#include "lab/process/server_process.hpp"

namespace bench {

KATANA_DESCRIBE(Person, id, name, city, age)

constexpr std::int64_t people = 10'000;

namespace {

using namespace katana;

std::int64_t next_id(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<std::int64_t>((state >> 33) % people) + 1;
}

Task<void> read_one(database::Database& db, std::int64_t id, std::int64_t& sum) {
  const auto person =
      co_await db.query_one<Person>("SELECT id, name, city, age FROM people WHERE id = $1", id);
  if (person && *person) sum += (*person)->id;
}

std::int64_t expected_sum(std::uint64_t count) {
  std::uint64_t state = 1;
  std::int64_t sum = 0;
  for (std::uint64_t index = 0; index < count; ++index) sum += next_id(state);
  return sum;
}

// `per_turn` requests in each turn of a reactor, each a coroutine that reads one row.
micro::Sample katana_reads(database::Database& db, Turns& turns, std::uint64_t count,
                           std::uint64_t per_turn) {
  std::uint64_t state = 1;
  std::int64_t sum = 0;
  const auto sample = micro::time_operations(count, [&] {
    for (std::uint64_t done = 0; done < count; done += per_turn) {
      turns.turn([&] {
        for (std::uint64_t index = 0; index < per_turn; ++index) {
          auto task = read_one(db, next_id(state), sum);
          micro::expect(task.start(), "a point read is answered at once");
        }
      });
    }
  });
  micro::expect(sum == expected_sum(count), "every read found its row");
  return sample;
}

micro::Sample bare_reads(Bare& bare, std::uint64_t count, std::uint64_t per_transaction) {
  std::uint64_t state = 1;
  std::int64_t sum = 0;
  const auto sample = micro::time_operations(count, [&] {
    for (std::uint64_t done = 0; done < count;
         done += std::max<std::uint64_t>(per_transaction, 1)) {
      if (per_transaction > 0) bare.begin();
      for (std::uint64_t index = 0; index < std::max<std::uint64_t>(per_transaction, 1); ++index) {
        Person person;
        if (bare.read(next_id(state), person)) sum += person.id;
      }
      if (per_transaction > 0) bare.commit();
    }
  });
  micro::expect(sum == expected_sum(count), "every read found its row");
  return sample;
}

micro::Sample by_clock(std::uint64_t operations, const std::function<void()>& work) {
  const std::int64_t begin = micro::now_ns();
  work();
  const auto took = static_cast<double>(micro::now_ns() - begin);
  return {took / 1000 / static_cast<double>(operations), {}};
}

Task<void> write_many(database::Database& db, std::uint64_t count, std::uint64_t& done) {
  for (std::uint64_t index = 0; index < count; ++index) {
    const auto written =
        co_await db.execute("INSERT INTO visits (person, place) VALUES ($1, $2)",
                            static_cast<std::int64_t>(index), std::string_view("somewhere"));
    if (written && *written == 1) ++done;
  }
}

// `callers` coroutines, each of which waits for its write before it makes the next.
micro::Sample katana_writes(database::Database& db, std::uint64_t count, std::uint64_t callers) {
  thread::Loop loop;
  std::uint64_t done = 0;
  const auto sample = by_clock(count, [&] {
    std::vector<Task<void>> tasks;
    for (std::uint64_t index = 0; index < callers; ++index) {
      tasks.push_back(write_many(db, count / callers, done));
    }
    for (Task<void>& task : tasks) loop.start(task);
    for (const Task<void>& task : tasks) {
      while (!task.done()) loop.turn();
    }
  });
  micro::expect(done == count, "every write was acknowledged");
  return sample;
}

micro::Sample bare_writes(Bare& bare, std::uint64_t count, std::uint64_t per_transaction) {
  const std::string place = "somewhere";
  return by_clock(count, [&] {
    for (std::uint64_t done = 0; done < count; done += per_transaction) {
      bare.begin();
      for (std::uint64_t index = 0; index < per_transaction; ++index) {
        bare.write(static_cast<std::int64_t>(index), place);
      }
      bare.commit();
    }
  });
}

Task<void> scan_many(database::Database& db, std::uint64_t count, std::int64_t& sum) {
  for (std::uint64_t index = 0; index < count; ++index) {
    const auto total =
        co_await db.query_one<std::int64_t>("SELECT sum(age) FROM people WHERE city <> $1", "-");
    if (total && *total) sum += **total;
  }
}

// 64 callers with reads that scan 10,000 rows: over the budget of a reactor, so the pool's.
micro::Sample pool_reads(database::Database& db, std::uint64_t count) {
  constexpr std::uint64_t callers = 64;
  thread::Loop loop;
  std::int64_t sum = 0;
  const auto sample = by_clock(count, [&] {
    std::vector<Task<void>> tasks;
    for (std::uint64_t index = 0; index < callers; ++index) {
      tasks.push_back(scan_many(db, count / callers, sum));
    }
    for (Task<void>& task : tasks) loop.start(task);
    for (const Task<void>& task : tasks) {
      while (!task.done()) loop.turn();
    }
  });
  micro::expect(sum == static_cast<std::int64_t>(count) * people * 30, "every scan was whole");
  return sample;
}

database::Database open(const std::string& path, unsigned readers = 4) {
  auto opened = database::sqlite::open({.path = path, .readers = readers});
  if (!opened) micro::fail(1, opened.error().describe());
  return *std::move(opened);
}

void fill(Bare& bare) {
  bare.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INT)");
  bare.run("CREATE TABLE visits (id INTEGER PRIMARY KEY, person INT, place TEXT)");
  bare.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
      "INSERT INTO people SELECT i, 'person ' || i, 'city', 30 FROM n");
  bare.run("PRAGMA wal_checkpoint(TRUNCATE)");
  bare.prepare();
}

std::filesystem::path folder() {
  return std::filesystem::path(katana::lab::own_program()).parent_path() / "micro_database_files";
}

void ask_reads(micro::Suite& suite, Bare& bare, database::Database& db) {
  Turns turns;
  const std::uint64_t count = suite.operations(160'000) / 16 * 16;
  const auto* const reads =
      suite.ask({"point read: ns of processor time each", "ns"},
                {{"bare SQLite, autocommit", [&] { return bare_reads(bare, count, 0); }},
                 {"bare SQLite, 16 a transaction", [&] { return bare_reads(bare, count, 16); }},
                 {"katana, 16 a turn", [&] { return katana_reads(db, turns, count, 16); }},
                 {"katana, 1 a turn", [&] { return katana_reads(db, turns, count, 1); }}});
  suite.target("point reads: at least 0.75 x the bare loop of 16 a transaction (time <= 1.33 x)",
               reads, "katana, 16 a turn", "bare SQLite, 16 a transaction", 1 / 0.75,
               micro::at_most);
  suite.target("point reads: at least 3 x autocommit", reads, "bare SQLite, autocommit",
               "katana, 16 a turn", 3, micro::at_least);
}

void ask_writes(micro::Suite& suite, Bare& bare, database::Database& db) {
  const std::uint64_t many = std::max<std::uint64_t>(suite.operations(12'800) / 64 * 64, 64);
  const auto* const together =
      suite.ask({"durable insert, 64 at once: us each", "us"},
                {{"bare SQLite, 64 a transaction", [&] { return bare_writes(bare, many, 64); }},
                 {"katana, 64 callers", [&] { return katana_writes(db, many, 64); }}});
  suite.target("64 callers: at least 0.8 x the bare loop of 64 a transaction (time <= 1.25 x)",
               together, "katana, 64 callers", "bare SQLite, 64 a transaction", 1 / 0.8,
               micro::at_most);
  const std::uint64_t few = suite.operations(400);
  const auto* const alone =
      suite.ask({"durable insert, alone: us each", "us"},
                {{"bare SQLite, 1 a transaction", [&] { return bare_writes(bare, few, 1); }},
                 {"katana, 1 caller", [&] { return katana_writes(db, few, 1); }}});
  suite.target("one caller: at most 1.1 x one bare transaction", alone, "katana, 1 caller",
               "bare SQLite, 1 a transaction", 1.1, micro::at_most);
}

void ask_pools(micro::Suite& suite, const std::string& path) {
  const std::uint64_t count = std::max<std::uint64_t>(suite.operations(1'280) / 64 * 64, 64);
  std::vector<micro::Subject> subjects;
  std::vector<std::unique_ptr<database::Database>> pools;
  for (const unsigned readers : {2u, 5u, 10u, 20u}) {
    pools.push_back(std::make_unique<database::Database>(open(path, readers)));
    subjects.push_back({fmt::format("katana, pool of {}", readers),
                        [&db = *pools.back(), count] { return pool_reads(db, count); }});
  }
  suite.ask({"scan of 10,000 rows, 64 callers: us each", "us"}, std::move(subjects));
}

int run(int argument_count, char** arguments) {
  micro::Suite suite("database", argument_count, arguments);
  std::filesystem::remove_all(folder());
  std::filesystem::create_directories(folder());
  const std::string path = folder() / "bench.db";
  int status = 0;
  {
    Bare bare(path);
    fill(bare);
    database::Database db = open(path);
    ask_reads(suite, bare, db);
    ask_writes(suite, bare, db);
    ask_pools(suite, path);
    status = suite.finish();
  }
  std::filesystem::remove_all(folder());
  return status;
}

}  // namespace
}  // namespace bench

int main(int count, char** arguments) { return bench::run(count, arguments); }

// SPDX-License-Identifier: Apache-2.0
