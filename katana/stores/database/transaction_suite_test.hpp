// TransactionSuite: tests of modes, savepoints and batches that every backend has to pass. It is
// plugged in as DatabaseSuite is.
//
//   INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, TransactionSuite, SqlitePlug);
//
// Owns       as DatabaseSuite.
// Thread     the test's.
// Fails      by failing the test.
// Invariant  the statements use only SQL that SQLite and PostgreSQL share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "katana/stores/database/batch.hpp"
#include "katana/stores/database/database_suite_test.hpp"

namespace katana::database::suite {

template <class Plug>
class TransactionSuite : public DatabaseSuite<Plug> {};
TYPED_TEST_SUITE_P(TransactionSuite);

inline constexpr Sql insert_named = "INSERT INTO users VALUES ($1, $2, NULL, 0, 0, NULL, NULL, 0)";

TYPED_TEST_P(TransactionSuite, a_savepoint_is_undone_alone_and_takes_a_failure_with_it) {
  const auto body = [this]() -> Task<void> {
    auto transaction = co_await this->db().begin();
    EXPECT_TRUE(transaction);
    if (!transaction) co_return;
    EXPECT_TRUE(co_await transaction->execute(insert_named, 1, "a"));
    auto first = co_await transaction->savepoint();
    EXPECT_TRUE(first);
    EXPECT_TRUE(co_await first->execute(insert_named, 2, "b"));
    const auto taken = co_await first->execute(insert_named, 1, "again");
    EXPECT_TRUE(!taken && taken.error().kind() == Kind::constraint_violation);
    const auto next = co_await transaction->execute(insert_named, 3, "c");
    EXPECT_TRUE(!next && next.error().kind() == Kind::failed_transaction);
    const auto inner = co_await first->savepoint();
    EXPECT_TRUE(!inner && inner.error().kind() == Kind::failed_transaction);
    EXPECT_TRUE(co_await first->rollback());
    EXPECT_TRUE(co_await transaction->execute(insert_named, 4, "d")) << "it goes on";
    EXPECT_TRUE(co_await transaction->commit());
    const auto ids = co_await this->db().template query<std::int64_t>("SELECT id FROM users");
    EXPECT_TRUE(ids);
    if (ids) {
      EXPECT_THAT(*ids, testing::UnorderedElementsAre(1, 4));
    }
  };
  this->run(body());
}

TYPED_TEST_P(TransactionSuite, a_savepoint_that_is_destroyed_is_undone_before_the_next_statement) {
  const auto body = [this]() -> Task<void> {
    auto transaction = co_await this->db().begin();
    EXPECT_TRUE(transaction);
    if (!transaction) co_return;
    for (int round = 0; round < 3; ++round) {
      auto savepoint = co_await transaction->savepoint();
      EXPECT_TRUE(savepoint);
      EXPECT_TRUE(co_await savepoint->execute(insert_named, round, "kept"));
      auto inner = co_await savepoint->savepoint();
      EXPECT_TRUE(inner);
      EXPECT_TRUE(co_await inner->execute(insert_named, 100 + round, "undone"));
      if (round == 1) continue;  // both are destroyed
      inner = fail(Kind::syntax, "destroys it");
      const auto count =
          co_await savepoint->template query_one<std::int64_t>("SELECT count(*) FROM users");
      EXPECT_TRUE(count && **count == (round == 0 ? 1 : 2)) << "of round " << round;
      EXPECT_TRUE(co_await savepoint->release());
    }
    EXPECT_TRUE(co_await transaction->commit());
    EXPECT_EQ(co_await this->count(), 2);
  };
  this->run(body());
}

TYPED_TEST_P(TransactionSuite, a_scope_within_a_transaction_is_kept_or_undone_alone) {
  const auto body = [this]() -> Task<void> {
    int id = 0;
    auto part = [&](Savepoint& within) -> Task<katana::Result<int>> {
      const auto added = co_await within.execute(insert_named, ++id % 3, "a");
      if (!added) co_return std::unexpected(added.error());
      if (id == 2) co_return katana::fail(Code::not_found, "changed its mind");
      co_return id;
    };
    auto whole = [&](Transaction& transaction) -> Task<katana::Result<int>> {
      int kept = 0;
      for (int round = 0; round < 4; ++round) {
        const auto done = co_await transact(transaction, part);
        kept += done ? 1 : 0;
      }
      co_return kept;
    };
    const auto kept = co_await transact(this->db(), whole);
    EXPECT_TRUE(kept && *kept == 2) << "1 and 0; 2 changed its mind, and 1 was there";
    EXPECT_EQ(co_await this->count(), 2);
  };
  this->run(body());
}

TYPED_TEST_P(TransactionSuite, a_read_only_transaction_reads_and_does_not_write) {
  const auto body = [this]() -> Task<void> {
    co_await this->add(sample(1));
    for (const Isolation isolation : {Isolation::usual, Isolation::read_committed,
                                      Isolation::repeatable_read, Isolation::serializable}) {
      const TransactionOptions options{.isolation = isolation,
                                       .read_only = true,
                                       .deferrable = isolation == Isolation::serializable};
      auto transaction = co_await this->db().begin(options);
      EXPECT_TRUE(transaction);
      if (!transaction) co_return;
      const auto found =
          co_await transaction->template query_one<std::int64_t>("SELECT count(*) FROM users");
      EXPECT_TRUE(found && **found == 1);
      const auto written = co_await transaction->execute("DELETE FROM users");
      EXPECT_TRUE(!written && written.error().kind() == Kind::syntax);
      EXPECT_TRUE(!written && written.error().describe().contains("is read only"));
      const auto commit = co_await transaction->commit();
      EXPECT_TRUE(!commit && commit.error().kind() == Kind::failed_transaction);
    }
    auto writes = co_await this->db().begin({.isolation = Isolation::serializable});
    EXPECT_TRUE(writes);
    if (!writes) co_return;
    EXPECT_TRUE(co_await writes->execute("DELETE FROM users"));
    EXPECT_TRUE(co_await writes->commit());
    EXPECT_EQ(co_await this->count(), 0);
  };
  this->run(body());
}

struct NamedUser {
  std::int64_t id = 0;
  std::string name;
};
KATANA_DESCRIBE(NamedUser, id, name)

TYPED_TEST_P(TransactionSuite, a_batch_is_done_whole_and_counts_by_row) {
  const auto body = [this]() -> Task<void> {
    std::vector<NamedUser> users;
    for (int id = 0; id < 700; ++id) users.push_back({id, "name"});
    const auto added = co_await execute_many(this->db(), insert_named, std::move(users));
    EXPECT_TRUE(added) << added.error().describe();
    EXPECT_EQ(co_await this->count(), 700);
    using Pair = std::tuple<std::string, std::int64_t>;
    std::vector<Pair> changes = {{"first", 100}, {"second", 9999}, {"third", 101}};
    const auto changed = co_await execute_many(
        this->db(), "UPDATE users SET name = $1 WHERE id BETWEEN $2 AND $2 + 1",
        std::move(changes));
    EXPECT_TRUE(changed);
    if (!changed) co_return;
    EXPECT_EQ(changed->rows_changed, 4);
    EXPECT_THAT(changed->by_row, testing::ElementsAre(2, 0, 2));
    const auto name = co_await this->db().template query_one<std::string>(
        "SELECT name FROM users WHERE id = 101");
    EXPECT_TRUE(name && **name == "third") << "in their order";
    const auto none = co_await execute_many(this->db(), "DELETE FROM users WHERE id = $1",
                                            std::vector<std::int64_t>());
    EXPECT_TRUE(none && none->rows_changed == 0);
  };
  this->run(body());
}

TYPED_TEST_P(TransactionSuite, a_row_that_fails_undoes_its_batch_and_is_named) {
  const auto body = [this]() -> Task<void> {
    std::vector<NamedUser> users;
    for (int id = 0; id < 400; ++id) users.push_back({id == 300 ? 7 : id, "secret"});
    const auto failed = co_await execute_many(this->db(), insert_named, users);
    EXPECT_FALSE(failed);
    if (failed) co_return;
    EXPECT_EQ(failed.error().kind(), Kind::constraint_violation);
    EXPECT_EQ(failed.error().row(), 300u);
    EXPECT_EQ(failed.error().which(), "users.id");
    EXPECT_THAT(failed.error().describe(), testing::StartsWith("row 300 of the batch: "));
    EXPECT_THAT(failed.error().describe(), testing::HasSubstr("statement: INSERT INTO users"));
    EXPECT_THAT(failed.error().describe(), testing::Not(testing::HasSubstr("secret")));
    EXPECT_EQ(co_await this->count(), 0);
    auto transaction = co_await this->db().begin();
    EXPECT_TRUE(transaction);
    if (!transaction) co_return;
    auto savepoint = co_await transaction->savepoint();
    EXPECT_TRUE(savepoint);
    const auto within = co_await execute_many(*savepoint, insert_named, users);
    EXPECT_TRUE(!within && within.error().row() == 300u);
    EXPECT_TRUE(co_await savepoint->rollback());
    users.resize(3);
    const auto few = co_await execute_many(*transaction, insert_named, users);
    EXPECT_TRUE(few && few->rows_changed == 3);
    EXPECT_TRUE(co_await transaction->commit());
    EXPECT_EQ(co_await this->count(), 3);
  };
  this->run(body());
}

TYPED_TEST_P(TransactionSuite, rows_each_for_itself_fail_alone) {
  const auto body = [this]() -> Task<void> {
    std::vector<NamedUser> users;
    for (int id = 0; id < 300; ++id) users.push_back({id % 290, "name"});
    const auto results = co_await execute_each(this->db(), insert_named, std::move(users));
    EXPECT_EQ(results.size(), 300u);
    const auto failed = std::ranges::count_if(results, [](const auto& each) {
      return !each && each.error().kind() == Kind::constraint_violation;
    });
    EXPECT_EQ(failed, 10);
    EXPECT_EQ(co_await this->count(), 290);
  };
  this->run(body());
}

REGISTER_TYPED_TEST_SUITE_P(TransactionSuite,
                            a_savepoint_is_undone_alone_and_takes_a_failure_with_it,
                            a_savepoint_that_is_destroyed_is_undone_before_the_next_statement,
                            a_scope_within_a_transaction_is_kept_or_undone_alone,
                            a_read_only_transaction_reads_and_does_not_write,
                            a_batch_is_done_whole_and_counts_by_row,
                            a_row_that_fails_undoes_its_batch_and_is_named,
                            rows_each_for_itself_fail_alone);

}  // namespace katana::database::suite

// SPDX-License-Identifier: Apache-2.0
