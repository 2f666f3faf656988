#include "katana/stores/database/postgres/advisory_lock.hpp"

namespace katana::database::postgres {

Task<database::Result<bool>> AdvisoryLock::still_held() {
  const auto answer = co_await transaction_.query_one<std::int64_t>("SELECT 1::bigint");
  if (answer) co_return true;
  if (answer.error().kind() == Kind::failed_transaction ||
      answer.error().kind() == Kind::unavailable) {
    co_return false;
  }
  co_return std::unexpected(answer.error());
}

Task<database::Result<void>> AdvisoryLock::release() {
  const auto ended = co_await transaction_.rollback();
  if (!ended) co_return std::unexpected(ended.error());
  co_return database::Result<void>();
}

Task<database::Result<AdvisoryLock>> lock(Database& database, LockKey key, Duration timeout) {
  auto transaction = co_await database.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  const Queries queries = timeout > Duration{} ? transaction->within(timeout) : *transaction;
  const auto taken = co_await queries.execute("SELECT pg_advisory_xact_lock($1)", key.key);
  if (!taken) co_return std::unexpected(taken.error());
  co_return AdvisoryLock(*std::move(transaction));
}

Task<database::Result<std::optional<AdvisoryLock>>> try_lock(Database& database, LockKey key) {
  auto transaction = co_await database.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  const auto taken =
      co_await transaction->query_one<bool>("SELECT pg_try_advisory_xact_lock($1)", key.key);
  if (!taken) co_return std::unexpected(taken.error());
  std::optional<AdvisoryLock> held;
  if (taken->value_or(false)) held.emplace(*std::move(transaction));
  co_return held;
}

Task<database::Result<void>> lock(const Nestable& transaction, LockKey key) {
  const Queries queries = transaction;
  const auto taken = co_await queries.execute("SELECT pg_advisory_xact_lock($1)", key.key);
  if (!taken) co_return std::unexpected(taken.error());
  co_return database::Result<void>();
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
