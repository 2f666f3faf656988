// traits_of(): what the text of a statement says about it, before the database is asked.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never: what is no SQL is judged by the database.
// Invariant  a statement that would begin or end a transaction, change the session of a connection
//            that callers share, or leave the protocol of queries (COPY) is refused.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::database::postgres {

// What a statement's words show, without the schema.
struct StatementTraits {
  // Changes nothing, as far as its words say: a SELECT may call a function that writes.
  bool reads = false;
  // Neither locks rows nor calls a function but well-known ones: to run it twice does no harm.
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
