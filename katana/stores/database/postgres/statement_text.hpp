// traits_of(): the properties of a statement that its text shows, before the database is asked.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never: the database judges text that is no SQL.
// Invariant  a statement is refused if it would begin or end a transaction, or leave the protocol
//            of queries (COPY). It is also refused if it would change the session of a connection
//            that callers share.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::database::postgres {

// The properties of a statement that its words show, without the schema.
struct StatementTraits {
  // Changes nothing, as far as its words say: a SELECT may call a function that writes.
  bool reads = false;
  // Locks no rows, and calls only well-known functions: to run it twice does no harm.
  bool reads_plainly = false;
  // A write that gives rows: it is committed only after they were read.
  bool returning = false;
  bool refused = false;
  bool copies = false;             // COPY, which is for streams and CopyIn alone
  bool needs_transaction = false;  // SET LOCAL and SET TRANSACTION, which end with it
  bool may_commit = false;         // CALL and DO: what they did may stay when they fail
};

StatementTraits traits_of(Bytes text) noexcept;

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
