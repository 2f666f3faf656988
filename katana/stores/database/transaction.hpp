// Queries: the calls that a database and a transaction share. Transaction: statements that take
// effect together or not at all.
//
//   auto transaction = co_await database.begin();
//   if (!transaction) co_return std::unexpected(transaction.error());
//   co_await transaction->execute("UPDATE …", …);
//   auto savepoint = co_await transaction->savepoint();
//   co_await savepoint->execute("INSERT …", …);    // may fail
//   co_await savepoint->release();                 // destroyed without it: undone, and that alone
//   co_return co_await transaction->commit();      // destroyed without it: rolled back
//
// Owns       a Transaction the right to commit, and a Savepoint the right to keep its statements.
//            They give up these rights when they are destroyed.
// Borrows    the database, which must outlive it; a Savepoint its transaction, too.
// Thread     its executor's.
// Allocates  as Call does.
// Fails      as Call does. After a statement of a transaction has failed, each further one and
//            commit() fail with failed_transaction: with every database, since some cannot go on.
//            The undo of a savepoint made before that statement removes the failure, too.
// Invariant  a transaction is durable when commit() has succeeded, and undone when commit() was not
//            called or failed.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/call.hpp"
#include "katana/stores/database/stream.hpp"

namespace katana::database {

class Queries {
 public:
  Queries(Backend& backend, std::uint64_t transaction, Duration timeout) noexcept
      : backend_(&backend), timeout_(timeout), transaction_(transaction) {}

  // Every row, as std::vector<R>.
  template <class R, class... Arguments>
  CallFor<Many<R>, Arguments...> query(StatementFor<detail::QueryCall, R, Arguments...> sql,
                                       const Arguments&... arguments) const {
    return {*backend_, order(), transaction_, timeout_, &sql, arguments...};
  }
  // The row, as std::optional<R>: without a value when there is none. More than one row is
  // a mismatch.
  template <class R, class... Arguments>
  CallFor<One<R>, Arguments...> query_one(StatementFor<detail::QueryOneCall, R, Arguments...> sql,
                                          const Arguments&... arguments) const {
    return {*backend_, order(), transaction_, timeout_, &sql, arguments...};
  }
  // Returns the number of rows that the statement changed.
  template <class... Arguments>
  CallFor<Changes, Arguments...> execute(StatementFor<detail::ExecuteCall, void, Arguments...> sql,
                                         const Arguments&... arguments) const {
    return {*backend_, order(), transaction_, timeout_, &sql, arguments...};
  }

  // "sqlite" or "postgresql", for statements that differ between them.
  Bytes system() const noexcept { return backend_->system(); }
  // The same calls with this timeout for each; after it they end with Kind::timeout.
  Queries within(Duration timeout) const noexcept { return {*backend_, transaction_, timeout}; }

 protected:
  // The order by which the statements of these queries are sent.
  Order order() const noexcept { return transaction_ == 0 ? Order::read : Order::within; }

  Backend* backend_;
  Duration timeout_;
  std::uint64_t transaction_;
};

class Savepoint;

// The calls that a transaction and a savepoint share.
class Nestable : public Queries {
 public:
  using Queries::Queries;
  // A part of the transaction that can be undone alone. Savepoints end in the order opposite to the
  // one in which they were made; one that is undone or released ends those within it, too.
  Task<Result<Savepoint>> savepoint() const;
};

// Statements that take effect together at commit(), or not at all.
class Transaction : public Nestable {
 public:
  Transaction(Backend& backend, std::uint64_t transaction, Duration timeout) noexcept
      : Nestable(backend, transaction, timeout) {}
  Transaction(Transaction&& other) noexcept
      : Nestable(other), open_(std::exchange(other.open_, false)) {}
  Transaction& operator=(Transaction&& other) noexcept {
    std::swap(static_cast<Queries&>(*this), static_cast<Queries&>(other));
    std::swap(open_, other.open_);
    return *this;
  }
  ~Transaction() {
    if (open_) backend_->roll_back(transaction_);
  }

  // Kind::unknown_outcome: the connection broke before the answer; the commit may have happened.
  Call<Changes> commit() noexcept { return end(Order::commit); }
  // Returns 1 if the transaction failed by a conflict with another one: a second run may succeed.
  // Otherwise 0.
  Call<Changes> rollback() noexcept { return end(Order::rollback); }

 private:
  Call<Changes> end(Order order) noexcept {
    open_ = false;
    return {*backend_, order, transaction_, timeout_, nullptr};
  }
  bool open_ = true;
};

// Undoes the statements since it was made if it is destroyed without release(). This also removes
// the failure of a statement: the transaction goes on. SQLite undoes the whole transaction when the
// deadline interrupts a write; the transaction is then over.
class Savepoint : public Nestable {
 public:
  Savepoint(Backend& backend, std::uint64_t transaction, Duration timeout,
            std::uint32_t number) noexcept
      : Nestable(backend, transaction, timeout), number_(number) {}
  Savepoint(Savepoint&& other) noexcept
      : Nestable(other), number_(std::exchange(other.number_, 0)) {}
  Savepoint& operator=(Savepoint&& other) noexcept {
    std::swap(static_cast<Queries&>(*this), static_cast<Queries&>(other));
    std::swap(number_, other.number_);
    return *this;
  }
  ~Savepoint() {
    if (number_ != 0) undo();
  }

  // Keeps the statements: they are now part of the transaction.
  Call<Changes> release() noexcept { return end(Order::release); }
  Call<Changes> rollback() noexcept { return end(Order::undo); }

 private:
  Call<Changes> end(Order order) noexcept {
    return {*backend_, Request{.order = order,
                               .savepoint = std::exchange(number_, 0),
                               .transaction = transaction_,
                               .timeout = timeout_}};
  }
  void undo() noexcept;

  std::uint32_t number_;  // 0: it has ended
};

// The result of begin(). A transaction that is not taken is rolled back.
class Begin final : public Outcome {
 public:
  using Value = Transaction;  // what co_await begin() returns, in a Result
  ~Begin() {
    if (transaction != 0) backend->roll_back(transaction);
  }
  TypeMismatch take(const Row&) override { return {}; }
  void clear() noexcept override {}
  std::int64_t rows() const noexcept { return 0; }
  Value result(Backend& of) noexcept {
    return {of, std::exchange(transaction, 0), of.timeout_default()};
  }
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
