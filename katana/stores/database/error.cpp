#include "katana/stores/database/error.hpp"

#include <fmt/format.h>

#include <array>

namespace katana::database {
namespace {

constexpr std::size_t statement_bytes_max = 120;

Code code_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::busy:
    case Kind::conflict:
    case Kind::unknown_outcome:
    case Kind::unavailable: return Code::unavailable;
    case Kind::timeout: return Code::deadline_exceeded;
    case Kind::cancelled: return Code::cancelled;
    case Kind::invalid_value:
    case Kind::constraint_violation: return Code::invalid_argument;
    case Kind::too_large: return Code::out_of_range;
    case Kind::syntax:  // the statement is the program's: the sender of the request is not to blame
    case Kind::mismatch:
    case Kind::failed_transaction: break;
  }
  return Code::internal;
}

Code code_of(Constraint constraint) noexcept {
  const bool taken = constraint == Constraint::unique || constraint == Constraint::primary_key ||
                     constraint == Constraint::exclusion;
  return taken ? Code::already_exists : Code::invalid_argument;
}

std::string with_article(Constraint constraint) {
  const std::string_view name = constraint_name(constraint);
  if (constraint == Constraint::other) return "another";
  return fmt::format("{} {}", constraint == Constraint::exclusion ? "an" : "a", name);
}

katana::Error with_statement(Code code, std::string what, std::string_view statement) {
  if (statement.empty()) return {code, std::move(what)};
  const bool cut = statement.size() > statement_bytes_max;
  const katana::Error cause(
      code,
      fmt::format("statement: {}{}", statement.substr(0, statement_bytes_max), cut ? "…" : ""));
  return cause.within(std::move(what));
}

}  // namespace

std::string_view kind_name(Kind kind) noexcept {
  static constexpr std::array<std::string_view, 12> names = {"busy",
                                                             "constraint violation",
                                                             "timeout",
                                                             "cancelled",
                                                             "unavailable",
                                                             "syntax",
                                                             "mismatch",
                                                             "too large",
                                                             "failed transaction",
                                                             "conflict",
                                                             "invalid value",
                                                             "unknown outcome"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view constraint_name(Constraint constraint) noexcept {
  static constexpr std::array<std::string_view, 8> names = {
      "none", "unique", "primary key", "foreign key", "not null", "check", "exclusion", "other"};
  return names[static_cast<std::size_t>(constraint)];
}

Error::Error(Kind kind, std::string_view what, std::string_view statement, std::string_view detail)
    : Error(detail.empty() ? with_statement(code_of(kind), std::string(what), statement)
                           : with_statement(code_of(kind), std::string(detail), statement)
                                 .within(std::string(what)),
            kind) {}

Error Error::unusable(const std::string& why) {
  return {katana::Error(Code::unavailable, why).within("the database is not usable at present"),
          Kind::unavailable};
}

Error Error::not_committed(const std::optional<Error>& cause) {
  constexpr const char* what = "the transaction was rolled back, and not committed";
  constexpr const char* remedy =
      "a statement of it had failed. Return that error from the body to roll back, or put the "
      "statement into a savepoint to go on without it";
  return {katana::Error(Code::internal,
                        cause ? fmt::format("{}; it was: {}", remedy, cause->describe()) : remedy)
              .within(what),
          Kind::failed_transaction};
}

Error Error::violated(Constraint constraint, std::string_view which, std::string_view statement) {
  const Code code = code_of(constraint);
  std::string what = fmt::format("{} constraint is violated", with_article(constraint));
  katana::Error cause = with_statement(code, what, statement);
  if (!which.empty()) {
    // The part that a client may be shown names neither a table nor a column.
    cause = with_statement(code, fmt::format("the constraint is that of {}", which), statement)
                .within(std::move(what));
  }
  Error error(std::move(cause), Kind::constraint_violation);
  error.constraint_ = constraint;
  error.which_ = which;
  return error;
}

Error Error::in_row(std::size_t row) const {
  return in_line(row, fmt::format("row {} of the batch", row));
}

Error Error::in_line(std::size_t line, std::string_view place) const {
  const std::string all = describe();
  const std::string what = fmt::format("{}: {}", place, message());
  // The causes stay behind the message, which is not repeated.
  const bool has_causes = all.size() > message().size() + 2;
  Error error(has_causes ? katana::Error(code(), all.substr(message().size() + 2)).within(what)
                         : katana::Error(code(), what),
              kind_);
  error.constraint_ = constraint_;
  error.which_ = which_;
  error.row_ = line;
  return error;
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
