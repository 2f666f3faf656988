// ObserverSuite: tests of the reports that an observer gets of every backend's statements. It is
// plugged in as DatabaseSuite is.
//
// Owns       as DatabaseSuite, and the reports.
// Thread     the test's.
// Fails      by failing the test.
// Invariant  the statements use only SQL that SQLite and PostgreSQL share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/stores/database/database_suite_test.hpp"

namespace katana::database::suite {

struct Told {
  std::string name;
  std::int64_t rows;
  std::optional<Kind> failure;
  bool operator==(const Told&) const = default;
};
inline void PrintTo(const Told& told, std::ostream* out) {
  *out << told.name << ", " << told.rows << " rows, "
       << (told.failure ? kind_name(*told.failure) : "ok");
}

class Listener final : public StatementObserver {
 public:
  // Each call returns a time that is a millisecond later.
  Instant now() const noexcept override { return {1'000'000 * ++looks_}; }
  void on_statement(const StatementReport& report) noexcept override {
    told.push_back({std::string(report.name), report.rows, report.failure});
    last_text = report.text;
    last_system = report.system;
    last_trace = report.trace_id;
    last_duration = report.duration;
  }

  std::vector<Told> told;
  std::string last_text, last_system, last_trace;
  Duration last_duration;

 private:
  mutable std::int64_t looks_ = 0;
};

template <class Plug>
class ObserverSuite : public DatabaseSuite<Plug> {
 protected:
  void SetUp() override {
    DatabaseSuite<Plug>::SetUp();
    this->db().backend().observe_statements(&listener_);
  }
  void TearDown() override { this->database_.reset(); }
  std::vector<Told> take() { return std::exchange(listener_.told, {}); }

  Listener listener_;
};
TYPED_TEST_SUITE_P(ObserverSuite);

TYPED_TEST_P(ObserverSuite, each_statement_is_told_with_its_name_rows_and_outcome) {
  const auto body = [this]() -> Task<void> {
    Database& db = this->db();
    co_await this->add(sample(1));
    co_await this->add(sample(2));
    (void)co_await db.template query<std::int64_t>("SELECT id FROM users WHERE id > $1", 0);
    (void)co_await db.template query_one<std::int64_t>("SELECT id FROM users WHERE id = 9");
    (void)co_await db.execute("-- name: reset_balances\nUPDATE users SET balance = 0");
    (void)co_await db.execute("UPDATE users SET balance = -1 WHERE id = $1", 1);
    (void)co_await db.execute("SELECT no_such_column FROM users");
    (void)co_await db.template query<std::string>("SELECT id FROM users");
  };
  this->run(body());
  EXPECT_THAT(this->take(),
              testing::ElementsAre(Told{"INSERT users", 1, {}}, Told{"INSERT users", 1, {}},
                                   Told{"SELECT users", 2, {}}, Told{"SELECT users", 0, {}},
                                   Told{"reset_balances", 2, {}},
                                   Told{"UPDATE users", 0, Kind::constraint_violation},
                                   Told{"SELECT users", 0, Kind::syntax},
                                   Told{"SELECT users", 0, Kind::mismatch}));
  EXPECT_EQ(this->listener_.last_text, "SELECT id FROM users");
  EXPECT_THAT(this->listener_.last_system, testing::AnyOf("sqlite", "postgresql"));
  EXPECT_EQ(this->listener_.last_duration, milliseconds(1));
}

TYPED_TEST_P(ObserverSuite, what_begins_and_ends_transactions_is_told_too) {
  const auto body = [this]() -> Task<void> {
    auto transaction = co_await this->db().begin();
    (void)co_await transaction->execute("DELETE FROM notes");
    auto savepoint = co_await transaction->savepoint();
    (void)co_await savepoint->release();
    (void)co_await transaction->commit();
    auto second = co_await this->db().begin();
    (void)co_await second->rollback();
  };
  this->run(body());
  EXPECT_THAT(this->take(), testing::ElementsAre(Told{"BEGIN", 0, {}}, Told{"DELETE notes", 0, {}},
                                                 Told{"SAVEPOINT", 0, {}}, Told{"RELEASE", 0, {}},
                                                 Told{"COMMIT", 0, {}}, Told{"BEGIN", 0, {}},
                                                 Told{"ROLLBACK", 0, {}}));
}

TYPED_TEST_P(ObserverSuite, a_stream_is_told_once_when_it_is_over_without_its_readers_time) {
  constexpr std::int64_t rows = 300;  // three batches
  const auto body = [this]() -> Task<void> {
    (void)co_await this->db().execute(
        "INSERT INTO notes SELECT 1, 1 WHERE 1 = 0");  // so that what follows is not the first
    this->take();
    auto whole = this->db().template stream<std::int64_t>(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
        "SELECT i FROM n");
    while (true) {
      const auto next = co_await whole.next();
      if (!next || !*next) break;
      (void)this->listener_.now();  // the reader takes its time
    }
    EXPECT_THAT(this->take(), testing::ElementsAre(Told{"SELECT n", rows, {}}));
    EXPECT_EQ(this->listener_.last_duration, milliseconds(3)) << "of three batches";
    {
      auto left = this->db().template stream<std::int64_t>(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
          "SELECT i FROM n");
      (void)co_await left.next();
      EXPECT_THAT(this->take(), testing::IsEmpty());
    }
    EXPECT_THAT(this->take(), testing::ElementsAre(Told{"SELECT n", stream_batch_rows, {}}));
  };
  this->run(body());
}

TYPED_TEST_P(ObserverSuite, a_call_whose_caller_goes_away_is_cancelled_in_its_activity) {
  const Activity activity{.name = "request-1", .trace = "trace-1"};
  const auto call = [this]() -> Task<void> { (void)co_await this->db().execute(endless_write); };
  {
    Task<void> waiting = call();
    {
      const ActivityScope scope(&activity);
      EXPECT_FALSE(this->loop_.start(waiting));
    }
    EXPECT_THAT(this->take(), testing::IsEmpty());
  }
  EXPECT_THAT(this->take(), testing::ElementsAre(Told{"INSERT users", 0, Kind::cancelled}));
  EXPECT_EQ(this->listener_.last_trace, "trace-1");
}

REGISTER_TYPED_TEST_SUITE_P(ObserverSuite, each_statement_is_told_with_its_name_rows_and_outcome,
                            what_begins_and_ends_transactions_is_told_too,
                            a_stream_is_told_once_when_it_is_over_without_its_readers_time,
                            a_call_whose_caller_goes_away_is_cancelled_in_its_activity);

}  // namespace katana::database::suite

// SPDX-License-Identifier: Apache-2.0
