// Checks of the text of a migration before it is run. They find statements that would end its
// transaction, and lines that only psql understands.
//
// Owns       nothing; the results refer to the script.
// Thread     any.
// Allocates  without_restrictions() the text.
// Fails      never: the database judges text that is no SQL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::database::postgres {

// A statement that a migration must not contain; its text is a view of the script.
struct ScriptStatement {
  // The reason why a migration must not contain it.
  enum class Kind : std::uint8_t {
    transaction,  // begins or ends one
    client_rows,  // COPY FROM STDIN
    of_psql,      // a command of psql, such as \connect
  };
  Kind kind = Kind::transaction;  // the reason that the error gives
  Bytes words;                    // "COMMIT", "START TRANSACTION"
  std::size_t line = 0;           // counted from 1
};

// The first statement that a migration must not contain, outside of the bodies of functions.
std::optional<ScriptStatement> refused_statement_in(Bytes script);

// The script without the lines \restrict and \unrestrict, which pg_dump writes for psql since 2025
// and which change nothing. The other lines keep their numbers.
std::string without_restrictions(Bytes script);

// The line of the character, which PostgreSQL counts from 1.
std::size_t line_of(Bytes script, std::size_t character);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
