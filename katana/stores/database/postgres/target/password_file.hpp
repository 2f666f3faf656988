// The password file: a line for each server, the first that fits counts.
//
//   host:port:database:user:password      '*' fits every value; '\:' and '\\' are escapes
//
// A server on the default Unix socket is named localhost. A file that others may read, or that is
// no plain file, is not used.
//
// Owns       nothing; the password is the caller's.
// Thread     any.
// Allocates  the password.
// Fails      never: without a line there is no password.
// Invariant  a file that others may read has a problem, and its caller uses none of it.
// Source     PostgreSQL 18, "The Password File"
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/stores/database/postgres/target/sources.hpp"

namespace katana::database::postgres::target {

// The values that a line is compared with.
struct PasswordQuestion {
  Bytes host = {};  // the name; or the address, if there is no name
  // The other fields of a line.
  std::uint16_t port = 5432;
  Bytes database = {};
  Bytes user = {};
};

// The password of the first line that fits.
std::optional<SecretText> find_password(Bytes content, const PasswordQuestion& question);
// The reason why a file is not used, for the log; empty: it is used, or it is not there.
std::string password_file_problem(const SourceFile& file, const std::string& path);

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
