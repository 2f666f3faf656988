// PostgresHostileServer: every kind of call, against a server that behaves as a test plans it.
//
// Owns       the server, the database and the loop.
// Thread     the test's.
// Fails      by failing the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/base/values/decimal.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/stores/database/postgres/fake_server_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {

struct FakeAddress {
  std::string street;
  int zip = 0;
  bool operator==(const FakeAddress&) const = default;
};
KATANA_DESCRIBE(FakeAddress, street, zip)

// The row of "SELECT wide". Members are optional where possible: a lost value is then no value,
// instead of another one.
struct Wide {
  std::int64_t id = 0;
  std::optional<std::string> name;
  std::optional<bool> flag;
  std::optional<Decimal> price;
  std::optional<Timestamp> at;
  std::optional<std::vector<std::optional<std::string>>> tags;
  std::optional<FakeAddress> home;
  bool operator==(const Wide&) const = default;
};
KATANA_DESCRIBE(Wide, id, name, flag, price, at, tags, home)

inline Wide wide_row_as_sent() {
  return {.id = 123'456'789'012,
          .name = "Ada \xc3\xbc",
          .flag = true,
          .price = Decimal::parse("12.30"),
          .at = TextForm<Timestamp>::parse("2000-01-01T00:00:00.000001Z"),
          .tags = {{"x", std::nullopt}},
          .home = FakeAddress{"a b", 7}};
}

class PostgresHostileServer : public testing::Test {
 protected:
  // The result of one call: the kind of its error, or "done".
  struct Answer {
    std::string kind;
    std::int64_t id = 0;  // that it inserted; 0: it read
    int answers = 0;
  };

  Task<void> read(Answer& answer) {
    const auto found = co_await db().query_one<int>("SELECT 7");
    if (found && exact_) {
      EXPECT_EQ(found->value_or(0), 7);
    }
    note(answer, kind_of(found));
  }
  // Reads one row, by query() or as a stream; `rows` gets the rows that came.
  Task<void> read_wide(bool streams, Answer& answer, std::vector<Wide>& rows) {
    if (!streams) {
      auto found = co_await db().query<Wide>("SELECT wide");
      if (found) rows = *std::move(found);
      co_return note(answer, kind_of(found));
    }
    auto stream = db().stream<Wide>("SELECT wide");
    while (true) {
      auto next = co_await stream.next();
      if (next && *next) {
        rows.push_back(**std::move(next));
        continue;
      }
      co_return note(answer, kind_of(next));
    }
  }
  std::vector<Wide> run_wide(Options options, bool streams, Answer& answer) {
    std::vector<Wide> rows;
    if (!open_with(std::move(options))) return rows;
    Task<void> task = read_wide(streams, answer, rows);
    if (!loop_.start(task)) {
      while (!task.done()) loop_.turn();
    }
    database_.reset();
    return rows;
  }
  Task<void> write(Answer& answer) {
    answer.id = ++ids_;
    note(answer, kind_of(co_await db().execute("INSERT INTO a VALUES ($1)", answer.id)));
  }
  Task<void> write_returning(Answer& answer) {
    answer.id = ++ids_;
    const auto made =
        co_await db().query_one<int>("INSERT INTO a VALUES ($1) RETURNING n", answer.id);
    if (made && exact_) {
      EXPECT_EQ(made->value_or(0), answer.id);
    }
    note(answer, kind_of(made));
  }
  Task<void> transact(Answer& answer) {
    answer.id = ++ids_;
    auto transaction = co_await db().begin();
    if (!transaction) co_return note(answer, kind_of(transaction));
    const auto written = co_await transaction->execute("INSERT INTO a VALUES ($1)", answer.id);
    if (!written) co_return note(answer, kind_of(written));
    note(answer, kind_of(co_await transaction->commit()));
  }
  static void note(Answer& answer, std::string kind) {
    answer.kind = std::move(kind);
    ++answer.answers;
  }

  // Every kind of call in one turn, on its own database.
  std::vector<Answer> run_calls(Options options) {
    std::vector<Answer> answers(5);
    if (!open_with(std::move(options))) return answers;
    std::vector<Task<void>> tasks;
    tasks.push_back(read(answers[0]));
    tasks.push_back(write(answers[1]));
    tasks.push_back(write_returning(answers[2]));
    tasks.push_back(read(answers[3]));
    tasks.push_back(transact(answers[4]));
    for (Task<void>& task : tasks) loop_.start(task);
    for (const Task<void>& task : tasks) {
      while (!task.done()) loop_.turn();
    }
    database_.reset();
    return answers;
  }
  bool open_with(Options options) {
    auto opened = postgres::open(std::move(options));
    EXPECT_TRUE(opened);
    database_.emplace(*std::move(opened));
    return opened.has_value();
  }
  Database& db() { return *database_; }
  // No deadline that a busy machine could meet.
  Options patient() {
    Options options = server_.options();
    options.wait_max = options.timeout = options.connect_timeout = seconds(600);
    options.probe_timeout = seconds(600);
    return options;
  }
  // Answers of a cut connection may come late: short deadlines keep the test short.
  Options hasty() {
    Options options = server_.options();
    options.wait_max = options.timeout = options.connect_timeout = milliseconds(60);
    options.probe_interval = options.probe_timeout = milliseconds(30);
    return options;
  }
  void expect_sound(const std::vector<Answer>& answers) {
    for (const Answer& answer : answers) {
      EXPECT_EQ(answer.answers, 1);
      if (answer.id == 0) {
        EXPECT_NE(answer.kind, "unknown outcome") << "a read has no effect";
        continue;
      }
      const int inserted = server_.inserted(answer.id);
      EXPECT_LE(inserted, 1) << "done twice: " << answer.kind;
      if (answer.kind == "done") {
        EXPECT_EQ(inserted, 1) << "acknowledged, and lost";
      }
      if (answer.kind == "unavailable") {
        EXPECT_EQ(inserted, 0) << "refused, and done";
      }
      EXPECT_THAT(answer.kind,
                  testing::AnyOf("done", "unavailable", "unknown outcome", "failed transaction"));
    }
  }
  // The program has lost nothing but a connection.
  void expect_well() {
    server_.plan({});
    for (const Answer& answer : run_calls(patient())) EXPECT_EQ(answer.kind, "done");
  }

  FakeServer server_;
  thread::Loop loop_;
  std::optional<Database> database_;
  std::int64_t ids_ = 0;
  bool exact_ = true;  // what is read is what was sent
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
