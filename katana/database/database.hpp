// Database: what a program asks its database, whichever it is.
//
//   auto opened = database::sqlite::open({.path = "var/users.db"});
//   database::Database& database = *opened;
//
//   Result<std::vector<User>> users = co_await database.query<User>(
//       "SELECT id, name FROM users WHERE age >= $1 ORDER BY id", 18);
//   Result<std::optional<User>> user = co_await database.query_one<User>(
//       "SELECT id, name FROM users WHERE id = $1", id);
//   Result<std::int64_t> changed = co_await database.execute(
//       "UPDATE users SET name = $2 WHERE id = $1", id, name);
//
// Owns       its backend: connections, threads.
// Thread     calls: by coroutines of any executor (a reactor, thread::Loop), which go on there. The
//            rest: any. Destroyed when no call is awaited any more.
// Allocates  see Call.
// Fails      every call gives a Result; nothing is thrown and nothing blocks.
// Invariant  an acknowledged write is durable, and seen by every read that begins after it was
//            acknowledged, whoever asks.
#pragma once

#include <memory>
#include <utility>

#include "katana/database/transaction.hpp"

namespace katana::database {

class Database : public Queries {
 public:
  explicit Database(std::unique_ptr<Backend> backend) noexcept
      : Queries(*backend, 0, backend->timeout_default()), owned_(std::move(backend)) {}
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;

  // Begins a transaction; see transaction.hpp. While one is open, other writes wait (SQLite).
  Call<Begin> begin() const noexcept { return {*backend_, Order::begin, 0, timeout_, nullptr}; }
  // See stream.hpp.
  template <class R, class... Arguments>
  Stream<R> stream(StatementFor<detail::StreamCall, R, Arguments...> sql,
                   const Arguments&... arguments) const {
    return Stream<R>(*backend_, timeout_, sql, arguments...);
  }

  // For readiness: an Error says why requests would fail now. Cheap, and any thread's.
  katana::Result<void> health() const { return backend_->health(); }
  Figures figures() const { return backend_->figures(); }
  Backend& backend() noexcept { return *backend_; }

 private:
  std::unique_ptr<Backend> owned_;
};

namespace detail {

// The body is a pointer here: g++ 12 warns of a coroutine in a header whose frame has a lambda's
// type.
template <class R>
Task<R> run_scope(Database& database, void* body, Task<R> (*call)(void*, Transaction&)) {
  auto transaction = co_await database.begin();
  if (!transaction) co_return std::unexpected(transaction.error());
  R result = co_await call(body, *transaction);
  if (!result) co_return result;
  const Result<std::int64_t> committed = co_await transaction->commit();
  if (!committed) co_return std::unexpected(committed.error());
  co_return result;
}
template <class T>
struct ResultOf;
template <class R>
struct ResultOf<Task<R>> {
  using Type = R;
};

}  // namespace detail

// A transaction as a scope: committed if the body's Result has a value, else rolled back.
//
//   auto body = [&](database::Transaction& transaction) -> Task<Result<void>> { … };
//   co_return co_await database::transact(database, body);
//
// The body is a variable, and outlives the call: g++ 12 would destroy a temporary twice (decision
// 0018). What it throws rolls back, too.
template <class Body>
auto transact(Database& database, Body& body) {
  using R = typename detail::ResultOf<std::invoke_result_t<Body&, Transaction&>>::Type;
  return detail::run_scope<R>(database, &body, [](void* called, Transaction& transaction) {
    return (*static_cast<Body*>(called))(transaction);
  });
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
