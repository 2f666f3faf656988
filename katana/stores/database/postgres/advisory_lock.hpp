// AdvisoryLock: a lock of the database on a number or a name, held while this object lives.
//
//   auto lock = co_await postgres::try_lock(database, "nightly report");
//   if (!lock) co_return std::unexpected(lock.error());
//   if (!*lock) co_return skipped;                       // another one has it
//   …
//   co_await (*lock)->release();                         // or destroy it
//
// Owns       a transaction, and therefore a connection, until it ends. The lock belongs to the
//            transaction: it cannot outlive the connection, and pgbouncer in transaction mode
//            keeps it.
// Borrows    the database, which outlives it.
// Thread     its executor's.
// Allocates  as Call does.
// Fails      as begin() and Call do. A lock that is held for longer than Options::transaction_hold
//            without a statement is lost: still_held() says so, and keeps it for as long again.
// Invariant  at most one holder has the lock of a key at a time, of all programs of a database.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "katana/stores/database/database.hpp"

namespace katana::database::postgres {

// The key of a lock: a number, or the hash of a name.
struct LockKey {
  constexpr LockKey(std::int64_t number) noexcept : key(number) {}  // NOLINT: a number is a key
  constexpr LockKey(const char* name) noexcept : LockKey(std::string_view(name)) {}  // NOLINT
  constexpr LockKey(std::string_view name) noexcept                                  // NOLINT
      : key(static_cast<std::int64_t>(detail::hash_of(name))) {}
  std::int64_t key;  // bigint key of pg_advisory_xact_lock(); a name is hashed to it
};

class [[nodiscard]] AdvisoryLock {
 public:
  explicit AdvisoryLock(Transaction transaction) noexcept : transaction_(std::move(transaction)) {}

  // false: the transaction ended, and the lock with it; asks the server.
  Task<database::Result<bool>> still_held();
  Task<database::Result<void>> release();  // ends the transaction; an Error: it was lost before

 private:
  Transaction transaction_;
};

// Waits for it as long as the call may: Kind::timeout then.
Task<database::Result<AdvisoryLock>> lock(Database& database, LockKey key,
                                          Duration timeout = Duration());
// Does not wait: without a value when another one has it.
Task<database::Result<std::optional<AdvisoryLock>>> try_lock(Database& database, LockKey key);
// Waits for the lock, and holds it until the end of this transaction or of its savepoint.
Task<database::Result<void>> lock(const Nestable& transaction, LockKey key);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
