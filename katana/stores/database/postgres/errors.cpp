#include "katana/stores/database/postgres/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace katana::database::postgres {
namespace {

// "Key (email, team)=(a@b, 7) already exists." names the columns, and behind them values.
std::string columns_of(const Complaint& complaint) {
  constexpr Bytes begin = "Key (";
  if (!complaint.detail.starts_with(begin)) return {};
  const std::size_t end = complaint.detail.find(")=(");
  if (end == Bytes::npos) return {};
  Bytes list = complaint.detail.substr(begin.size(), end - begin.size());
  std::string columns;
  while (true) {
    const std::size_t comma = list.find(", ");
    if (!columns.empty()) columns += ", ";
    columns += fmt::format("{}.{}", complaint.table, list.substr(0, comma));
    if (comma == Bytes::npos) return columns;
    list.remove_prefix(comma + 2);
  }
}

Error violation(const Complaint& complaint, Bytes statement) {
  const Bytes state = complaint.state;
  if (state == "23502") {
    return Error::violated(Constraint::not_null,
                           fmt::format("{}.{}", complaint.table, complaint.column), statement);
  }
  if (state == "23505") {
    // PostgreSQL gives a primary key a name with this end; the error shows its kind in no other
    // way.
    const Constraint constraint =
        complaint.constraint.ends_with("_pkey") ? Constraint::primary_key : Constraint::unique;
    const std::string columns = columns_of(complaint);
    return Error::violated(constraint, columns.empty() ? complaint.constraint : Bytes(columns),
                           statement);
  }
  const Constraint constraint = state == "23503"   ? Constraint::foreign_key
                                : state == "23514" ? Constraint::check
                                : state == "23P01" ? Constraint::exclusion
                                                   : Constraint::other;
  return Error::violated(constraint, complaint.constraint, statement);
}

// The kind by the first two characters, where the class decides.
Kind kind_of_class(Bytes state) noexcept {
  static constexpr std::array<std::pair<Bytes, Kind>, 8> kinds = {{{"08", Kind::unavailable},
                                                                   {"22", Kind::invalid_value},
                                                                   {"28", Kind::unavailable},
                                                                   {"3D", Kind::unavailable},
                                                                   {"53", Kind::unavailable},
                                                                   {"54", Kind::too_large},
                                                                   {"57", Kind::unavailable},
                                                                   {"58", Kind::unavailable}}};
  for (const auto& [first, kind] : kinds) {
    if (state.starts_with(first)) return kind;
  }
  return Kind::syntax;
}

Kind kind_of(Bytes state) noexcept {
  if (state == "40001" || state == "40P01") return Kind::conflict;
  if (state == "57014") return Kind::timeout;
  if (state == "25P02") return Kind::failed_transaction;
  if (state == "25006") return Kind::unavailable;
  if (state == "55P03") return Kind::busy;
  return kind_of_class(state);
}

// The server's own text where it is about the form of a statement or the state of the server; other
// texts may quote a value.
std::string detail_of(const Complaint& complaint) {
  for (const Bytes told : {"08", "0A", "25", "28", "3D", "42", "53", "57"}) {
    if (!complaint.state.starts_with(told)) continue;
    return fmt::format("{} (SQLSTATE {})", complaint.message, complaint.state);
  }
  return fmt::format("SQLSTATE {}", complaint.state);
}

}  // namespace

Error error_of(const Complaint& complaint, Bytes statement) {
  if (complaint.state.starts_with("23")) return violation(complaint, statement);
  const Kind kind = kind_of(complaint.state);
  const std::string told = detail_of(complaint);
  if (complaint.state == "26000" || complaint.state == "42P05") {
    return Error(kind,
                 "the session has not the statements that were prepared on it: behind a pooler of "
                 "transactions set database.postgres.prepared_statements to false",
                 statement, told);
  }
  switch (kind) {
    case Kind::conflict:
      return Error(kind, "the transaction conflicts with another one and was undone: run it again",
                   statement, told);
    case Kind::timeout: return Error(kind, "deadline exceeded while the statement ran", statement);
    case Kind::failed_transaction:
      return Error(kind, "a statement of the transaction failed: it can only be rolled back",
                   statement);
    case Kind::busy: return Error(kind, "another transaction holds the lock", statement);
    case Kind::invalid_value: return Error(kind, "PostgreSQL refuses a value", statement, told);
    case Kind::too_large: return Error(kind, "a limit of PostgreSQL is exceeded", statement, told);
    case Kind::unavailable:
      return Error(kind, "PostgreSQL cannot run the statement at present", statement, told);
    default: break;
  }
  return Error(kind, "PostgreSQL refuses the statement", statement, told);
}

// A type that was made anew has another number. The server reports this in many ways: by the parser
// (class 42), as a failed look-up (XX000), as operators that do not fit. Errors of objects that
// exist already, and of missing rights, mean something else.
Staleness staleness_of(const Complaint& complaint) noexcept {
  const Bytes state = complaint.state;
  if (state == "26000") return Staleness::name_is_gone;
  if (state == "0A000") {
    // A proxy may leave the routine out.
    const bool is_replanned =
        complaint.routine == "RevalidateCachedQuery" ||
        (complaint.routine.empty() && complaint.message.find("cached plan") != Bytes::npos);
    return is_replanned ? Staleness::plan_is_old : Staleness::none;
  }
  if (state == "XX000") return Staleness::perhaps;
  constexpr std::array<Bytes, 9> others = {"42501", "42P03", "42P04", "42P05", "42P06",
                                           "42P07", "42710", "42723", "42701"};
  const bool is_other = std::ranges::find(others, state) != others.end();
  return state.starts_with("42") && !is_other ? Staleness::perhaps : Staleness::none;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
