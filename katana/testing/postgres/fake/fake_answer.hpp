// FakeAnswer: the answer of a FakePostgres to one statement.
//
// Owns       its texts and functions.
// Thread     values.
// Allocates  as strings do.
// Fails      never; see FakePostgres for rows that do not fit.
// Invariant  none beyond those of FakePostgres.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "katana/testing/postgres/fake/fake_values.hpp"

namespace katana::testing {

// A column of an answer.
struct FakeColumn {
  std::string name;            // as the program's struct has it
  PgType type = PgType::text;  // of its values
};

// A statement as a server received it.
struct FakeStatement {
  std::string text;               // as the program wrote it
  std::vector<FakeValue> values;  // of $1, $2 …
  std::string server;             // "db.example:5432"
  bool in_transaction = false;    // between BEGIN and its end
};

// The outcome of one statement.
struct FakeReply {
  std::vector<FakeRow> rows = {};            // as the answer's columns are
  std::int64_t changed = -1;                 // rows that a write changed; -1: those of `rows`, or 1
  std::string sqlstate = {};                 // not empty: it fails, and has no rows
  std::string message = "a scripted error";  // of the failure
  std::function<void()> on_commit = {};      // the effect of a write
};

// The description of a statement, and its outcome each time.
struct FakeAnswer {
  std::vector<PgType> parameters = {};                        // of $1, $2 …; missing ones are text
  std::vector<FakeColumn> columns = {};                       // none: it gives no rows
  std::function<FakeReply(const FakeStatement&)> reply = {};  // none: FakeReply()
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
