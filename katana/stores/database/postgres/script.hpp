// What the text of a migration says before it is run: whether it would end the transaction that it
// is run in, and what it has that only psql understands.
//
// Owns       nothing; what it returns refers to the script.
// Thread     any.
// Allocates  without_restrictions() the text.
// Fails      never: what is no SQL is judged by the database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::database::postgres {

// A statement that a migration must not contain; its text is a view of the script.
struct ScriptStatement {
  // Why a migration must not contain it.
  enum class Kind : std::uint8_t {
    transaction,  // begins or ends one
    client_rows,  // COPY FROM STDIN
  };
  Kind kind = Kind::transaction;  // the reason that the error gives
  Bytes words;                    // "COMMIT", "START TRANSACTION"
  std::size_t line = 0;           // counted from 1
};

// The first statement that is none of a migration, outside of the bodies of functions.
std::optional<ScriptStatement> refused_statement_in(Bytes script);

// Without the lines \restrict and \unrestrict, which pg_dump writes for psql since 2025: they
// change nothing. Lines stay where they were.
std::string without_restrictions(Bytes script);

// That of the character which PostgreSQL counts from 1.
std::size_t line_of(Bytes script, std::size_t character);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
