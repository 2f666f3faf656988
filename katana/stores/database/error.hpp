// Error of a database: a katana::Error that also knows its kind.
//
//   if (created.error().kind() == Kind::constraint_violation) … created.error().which() …
//
// Owns       its texts.
// Thread     a value.
// Allocates  when made.
// Fails      never.
// Invariant  describe() has the statement and never a parameter. A database's message about
//            a statement that ran may quote values, and is not repeated. A client may be shown
//            message(): it has neither statement nor path, nor the name of a table or a column.
//
// Result<T> of this namespace turns into katana::Result<T> wherever one is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "katana/base/system/result.hpp"

namespace katana::database {

// The kind of a failure, the same for every database.
enum class Kind : std::uint8_t {
  busy,                  // another process holds the lock, longer than we were to wait
  constraint_violation,  // see constraint() and which()
  timeout,               // the call's deadline
  cancelled,             // the caller stopped waiting, or the database is closing
  unavailable,           // no connection within the wait; or the database is not usable now
  syntax,                // the statement is wrong, or is none that may be run so
  mismatch,              // a column does not fit what it was to be read into
  too_large,             // a value or a row above the database's limit
  failed_transaction,    // a statement of the transaction failed: it can only be rolled back
  conflict,              // with another transaction, and undone whole: run it again (retryable())
  invalid_value,         // the database refuses a parameter: malformed or out of its type's range
  unknown_outcome,       // the answer to a write or a commit was lost: it may have taken effect
};
std::string_view kind_name(Kind kind) noexcept;  // "constraint_violation", for logs and metrics

// The constraint that a Kind::constraint_violation broke.
enum class Constraint : std::uint8_t {
  none,         // the error is of another kind
  unique,       // also unique indexes
  primary_key,  // the row exists
  foreign_key,  // a row that is referred to is missing, or one that refers is left
  not_null,     // a column without a value
  check,        // a condition of the table
  exclusion,    // of PostgreSQL: another row stands where this one would
  other         // the database names none of these
};
std::string_view constraint_name(Constraint constraint) noexcept;  // "foreign_key", for logs

// A katana::Error with a Kind; Result<T> of this namespace has it.
class Error : public katana::Error {
 public:
  // `statement` and `detail` may be empty. The detail is for the log: it may name tables.
  Error(Kind kind, std::string_view what, std::string_view statement = {},
        std::string_view detail = {});
  // The file, or another thing that the calls need, fails. `why` is for the log.
  static Error unusable(const std::string& why);
  // The error of a commit of a transaction in which a statement failed with `cause`, if known.
  static Error not_committed(const std::optional<Error>& cause);
  static Error violated(Constraint constraint, std::string_view which, std::string_view statement);

  // The kind, for decisions in a program; message() is for people.
  Kind kind() const noexcept { return kind_; }
  // True when nothing was done, and the same call, or the same transaction from its begin, may
  // succeed now.
  bool retryable() const noexcept { return kind_ == Kind::conflict || kind_ == Kind::busy; }
  // For a constraint_violation: the kind of constraint, and its columns as "users.email", or the
  // name of a check. Empty when the database does not tell it (SQLite: foreign keys).
  Constraint constraint() const noexcept { return constraint_; }
  std::string_view which() const noexcept { return which_; }
  // The index of the row of parameters that failed in execute_many(), or of the line of a COPY.
  std::optional<std::size_t> row() const noexcept { return row_; }
  // This error as that of a row, which message() and describe() name.
  Error in_row(std::size_t row) const;
  // The same for a line of data, by its index. `place` is its name, as "line 3 of the data".
  Error in_line(std::size_t line, std::string_view place) const;

 private:
  Error(katana::Error error, Kind kind) : katana::Error(std::move(error)), kind_(kind) {}

  Kind kind_;
  Constraint constraint_ = Constraint::none;
  std::string which_;
  std::optional<std::size_t> row_;
};

// A value, or an Error of a database.
template <class T>
using Result = std::expected<T, Error>;

// For functions that return a Result: `return fail(Kind::busy, "…")`.
inline std::unexpected<Error> fail(Kind kind, std::string_view what,
                                   std::string_view statement = {}) {
  return std::unexpected(Error(kind, what, statement));
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
