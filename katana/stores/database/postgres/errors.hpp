// error_of(): PostgreSQL's report of a failed statement, as an Error of the interface.
//
//   SQLSTATE                                    Kind
//   23xxx                                       constraint_violation
//   40001 serialization, 40P01 deadlock         conflict
//   57014                                       timeout
//   25P02                                       failed_transaction
//   22xxx                                       invalid_value
//   54xxx                                       too_large
//   42xxx, 0Axxx, 3Fxxx, 26xxx, 2Fxxx, 38xxx    syntax
//   08xxx, 28xxx, 3Dxxx, 53xxx, 57Pxx, 58xxx    unavailable
//   55P03 lock not available                    busy
//   25006 read-only, 25xxx                      unavailable, syntax
//   anything else                               syntax, with its SQLSTATE
//
// Owns       the Error its texts.
// Borrows    a Complaint refers to the result.
// Thread     any.
// Allocates  the Error.
// Fails      never.
// Invariant  no value of a row or parameter is repeated. An Error repeats only these texts of the
//            server: names of tables, columns and constraints, and the text of an error about the
//            statement's form.
#pragma once

#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/error.hpp"
#include "katana/stores/database/postgres/protocol.hpp"

namespace katana::database::postgres {

// Fields of an error; empty where the server gave none.
struct Complaint {
  Bytes state = {};    // SQLSTATE, five characters
  Bytes message = {};  // primary message of the server; may quote values
  Bytes detail = {};
  Bytes table = {};       // empty: the error concerns no table
  Bytes column = {};      // empty: the error concerns no column
  Bytes constraint = {};  // name of the violated constraint
  Bytes routine = {};     // of the server's source that complains
};

// Views of the report.
inline Complaint complaint_of(const protocol::Report& report) noexcept {
  return {.state = report.sqlstate,
          .message = report.message,
          .detail = report.detail,
          .table = report.table,
          .column = report.column,
          .constraint = report.constraint,
          .routine = report.routine};
}

Error error_of(const Complaint& complaint, Bytes statement);

// Whether an error may come from a statement that was prepared for an older schema. Prepared anew,
// the statement may then run. The names of the server's source show it, whatever its language.
enum class Staleness : std::uint8_t {
  none,         // the error has another cause
  perhaps,      // an object of the statement is missing, or of another type: was it there before?
  plan_is_old,  // it did not begin: its result would have other columns
  name_is_gone  // likewise: the session has no prepared statements any more
};
// The SQLSTATE of the server decides; for a plan that is old, the routine or the message too.
Staleness staleness_of(const Complaint& complaint) noexcept;

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
