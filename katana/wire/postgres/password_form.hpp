// Decides whether SASLprep (RFC 4013) leaves a password as it is.
//
// SCRAM hashes the prepared form of a password. PostgreSQL and libpq prepare it by tables of
// Unicode. KATANA has no such tables, and needs none for passwords that SASLprep does not change:
//
//   ASCII                   not changed. Controls are prohibited: PostgreSQL takes the bytes then
//   no UTF-8                PostgreSQL takes the bytes
//   letters that are whole  Latin, Greek, Cyrillic, kana, Hangul and Han without combining marks
//   anything else           may be changed: such a password is refused, with the remedy
//
// Thread     any.
// Allocates  never.
// Fails      never.
// Invariant  if it is true, the bytes are what PostgreSQL hashes.
// Source     RFC 4013 §2; PostgreSQL, src/common/saslprep.c
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::postgres {

// True: the bytes of the password are hashed as they are.
bool is_prepared_password(Bytes password) noexcept;

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
