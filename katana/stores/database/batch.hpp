// execute_many, execute_each: one statement with many rows of parameters, sent together.
//
//   std::vector<NewUser> users = …;
//   auto added = co_await database::execute_many(
//       database, "INSERT INTO users (name, email) VALUES ($1, $2)", std::move(users));
//   if (!added) … added.error().row() …            // the index of the row that failed
//
// A row has the parameters of a statement: a described struct, a std::tuple, or the only value.
//
// Owns       the rows, while it runs.
// Borrows    the database or the transaction, which outlives the call.
// Thread     its executor's.
// Allocates  a coroutine, and as a Call does, for each of batch_rows_together rows.
// Fails      execute_many() with the error of the first row that failed, and nothing is done;
//            execute_each() row by row.
// Invariant  rows are begun in their order. No more than batch_rows_together are on their way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/coroutine/when.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::database {

// Rows that are sent before the first reply is awaited.
inline constexpr std::size_t batch_rows_together = 256;

// Result of execute_many().
struct BatchChanges {
  std::int64_t rows_changed = 0;     // of all
  std::vector<std::int64_t> by_row;  // of each row of parameters
};

namespace detail {

using RowResults = std::vector<Result<std::int64_t>>;

template <class Row>
Task<Result<std::int64_t>> execute_row(Queries queries, SqlFor<Row> sql, const Row* row) {
  co_return co_await queries.execute<Row>(sql, *row);
}

// `stops`: no rows are executed behind a part in which one failed.
template <class Row>
Task<RowResults> execute_rows(Queries queries, SqlFor<Row> sql, const std::vector<Row>* rows,
                              bool stops) {
  RowResults results;
  results.reserve(rows->size());
  while (results.size() < rows->size()) {
    const std::size_t end = std::min(rows->size(), results.size() + batch_rows_together);
    std::vector<Task<Result<std::int64_t>>> tasks;
    tasks.reserve(end - results.size());
    for (std::size_t row = results.size(); row < end; ++row) {
      tasks.push_back(execute_row<Row>(queries, sql, &(*rows)[row]));
    }
    RowResults part = co_await when_all(std::move(tasks));
    const bool failed = std::ranges::any_of(part, [](const auto& each) { return !each; });
    std::ranges::move(part, std::back_inserter(results));
    if (failed && stops) break;
  }
  co_return results;
}

// The changes by the rows of one transaction, or the error of the row that failed it.
Result<BatchChanges> together(RowResults results);

template <class Row>
struct RowsOf {
  SqlFor<Row> sql;
  std::vector<Row> rows;
};

template <class Row>
Task<Result<BatchChanges>> run_batch(void* given, Transaction& transaction) {
  const auto& batch = *static_cast<RowsOf<Row>*>(given);
  RowResults results = co_await execute_rows<Row>(transaction, batch.sql, &batch.rows, true);
  co_return together(std::move(results));
}

}  // namespace detail

// Executes all rows or none, in its own transaction. Runs again after a conflict, as transact()
// does.
template <class Row>
Task<Result<BatchChanges>> execute_many(Database& database, SqlFor<std::type_identity_t<Row>> sql,
                                        std::vector<Row> rows,
                                        TransactionOptions options = TransactionOptions()) {
  detail::RowsOf<Row> batch{sql, std::move(rows)};
  co_return co_await detail::run_scope<Result<BatchChanges>>(database, &batch,
                                                             &detail::run_batch<Row>, options);
}

// Executes the rows within a transaction or a savepoint, which has failed when a row did.
template <class Row>
Task<Result<BatchChanges>> execute_many(const Nestable& transaction,
                                        SqlFor<std::type_identity_t<Row>> sql,
                                        std::vector<Row> rows) {
  const Queries& queries = transaction;
  detail::RowResults results = co_await detail::execute_rows<Row>(queries, sql, &rows, true);
  co_return detail::together(std::move(results));
}

// Executes each row as execute() does: one that fails undoes no other. Returns a result for each
// row.
template <class Row>
Task<std::vector<Result<std::int64_t>>> execute_each(Database& database,
                                                     SqlFor<std::type_identity_t<Row>> sql,
                                                     std::vector<Row> rows) {
  const Queries& queries = database;
  co_return co_await detail::execute_rows<Row>(queries, sql, &rows, false);
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
