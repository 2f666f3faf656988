// Database: the calls of a program to its database, whichever it is.
//
//   auto opened = database::sqlite::open({.path = "var/users.db"});
//   database::Database& database = *opened;
//
//   Result<std::vector<User>> users = co_await database.query<User>(
//       "SELECT id, name FROM users WHERE age >= $1 ORDER BY id", 18);
//
//   Result<std::optional<User>> user = co_await database.query_one<User>(
//       "SELECT id, name FROM users WHERE id = $1", id);
//
//   Result<std::int64_t> changed = co_await database.execute(
//       "UPDATE users SET name = $2 WHERE id = $1", id, name);
//
// Owns       its backend: connections, threads.
// Thread     calls: by coroutines of any executor (a reactor, thread::Loop), which go on there. The
//            rest: any. Destroyed when no call is awaited any more.
// Allocates  see Call.
// Fails      every call returns a Result; nothing is thrown and nothing blocks.
// Invariant  an acknowledged write is durable, and seen by every read that begins after it was
//            acknowledged, from any caller.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "katana/stores/database/transaction.hpp"

namespace katana::database {

class Database : public Queries {
 public:
  explicit Database(std::unique_ptr<Backend> backend) noexcept
      : Queries(*backend, 0, backend->timeout_default()), owned_(std::move(backend)) {}
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;

  // Begins a transaction; see transaction.hpp. While one is open, other writes wait (SQLite).
  Call<Begin> begin(const TransactionOptions& options = {}) const noexcept {
    return {*backend_, Request{.order = Order::begin, .mode = options.mode(), .timeout = timeout_}};
  }
  // Reads whose data may be as old as the configuration allows. A replica answers if its lag is
  // within that bound, otherwise the primary. A write that was acknowledged here may not be visible
  // there yet.
  Queries replica() const noexcept { return {backend_->replica(), 0, timeout_}; }
  // See stream.hpp.
  template <class R, class... Arguments>
  Stream<R> stream(StatementFor<detail::StreamCall, R, Arguments...> sql,
                   const Arguments&... arguments) const {
    return Stream<R>(*backend_, timeout_, sql, arguments...);
  }

  // For readiness: an Error names the reason why requests would fail now. Cheap; any thread.
  katana::Result<void> health() const { return backend_->health(); }
  Statistics statistics() const { return backend_->statistics(); }
  Backend& backend() noexcept { return *backend_; }

 private:
  std::unique_ptr<Backend> owned_;
};

namespace detail {

// Called after attempt number `attempts` failed by a conflict. Waits; true: the body runs again.
Task<bool> may_run_again(unsigned attempts, const TransactionOptions& options);

// True for a reply whose status is 400 or above: nothing is to be done. A reply has a type
// RefusesByStatus. Other values with a status, as the response to a client, are results.
template <class R>
bool is_refusal(const R& result) {
  if constexpr (requires { typename std::remove_cvref_t<decltype(*result)>::RefusesByStatus; }) {
    return result->status() >= 400;
  } else {
    return false;
  }
}

// The body is a pointer here: g++ 12 warns of a coroutine in a header whose frame has a lambda's
// type.
template <class R>
Task<R> run_scope(Database& database, void* body, Task<R> (*call)(void*, Transaction&),
                  TransactionOptions options) {
  for (unsigned attempt = 1;; ++attempt) {
    std::optional<R> result;
    bool conflicts = false;
    {
      auto transaction = co_await database.begin(options);
      if (!transaction) {
        conflicts = transaction.error().retryable();
        result.emplace(std::unexpected(transaction.error()));
      } else {
        result.emplace(co_await call(body, *transaction));
        if (*result && !is_refusal(*result)) {
          const Result<std::int64_t> committed = co_await transaction->commit();
          if (committed) co_return *std::move(result);
          conflicts = committed.error().retryable();
          result.emplace(std::unexpected(committed.error()));
        } else {
          const Result<std::int64_t> undone = co_await transaction->rollback();
          conflicts = undone && *undone != 0;
        }
      }
    }
    if (!conflicts) co_return *std::move(result);
    const bool again = co_await may_run_again(attempt, options);
    if (!again) co_return *std::move(result);
  }
}
template <class R>
Task<R> run_savepoint(const Nestable& outer, void* body, Task<R> (*call)(void*, Savepoint&)) {
  auto savepoint = co_await outer.savepoint();
  if (!savepoint) co_return std::unexpected(savepoint.error());
  R result = co_await call(body, *savepoint);
  if (!result || is_refusal(result)) {
    const Result<std::int64_t> undone = co_await savepoint->rollback();
    if (!undone) co_return std::unexpected(undone.error());
    co_return result;
  }
  const Result<std::int64_t> kept = co_await savepoint->release();
  if (!kept) co_return std::unexpected(kept.error());
  co_return result;
}
template <class T>
struct ResultOf;
template <class R>
struct ResultOf<Task<R>> {
  using Type = R;
};

}  // namespace detail

// Runs the body in a transaction. It commits if the body's Result has a value, and rolls back
// otherwise. A Reply with a status of 400 or above, as problem(409), rolls back and is returned.
// Any other value behind a statement that failed cannot be committed: the result is an Error that
// names the statement.
//
//   auto body = [&](database::Transaction& transaction) -> Task<Result<void>> { … };
//   co_return co_await database::transact(database, body);
//
// The body runs again, from a new begin, when a conflict with another transaction undid it. Such
// a conflict is a serialization failure or a deadlock; with SQLite: another program's lock. It runs
// at most attempts_max times, and not beyond the deadline of its caller. Therefore its effects
// outside of the database must be safe to repeat. A commit with an unknown outcome is never run
// again.
//
// The body is a variable, and outlives the call: g++ 12 would destroy a temporary twice (decision
// 0018). An exception rolls back, too.
template <class Body>
auto transact(Database& database, Body& body, TransactionOptions options = {}) {
  using R = typename detail::ResultOf<std::invoke_result_t<Body&, Transaction&>>::Type;
  return detail::run_scope<R>(
      database, &body,
      [](void* called, Transaction& transaction) {
        return (*static_cast<Body*>(called))(transaction);
      },
      options);
}

// Runs the body in a savepoint, within a transaction or a savepoint, which outlives the call. Keeps
// the savepoint if the body's Result has a value, and otherwise undoes it alone. A Reply with a
// status of 400 or above undoes it, too, and is returned. The body runs once.
template <class Body>
auto transact(const Nestable& outer, Body& body) {
  using R = typename detail::ResultOf<std::invoke_result_t<Body&, Savepoint&>>::Type;
  return detail::run_savepoint<R>(outer, &body, [](void* called, Savepoint& savepoint) {
    return (*static_cast<Body*>(called))(savepoint);
  });
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
