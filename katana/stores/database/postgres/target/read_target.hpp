// Makes a Target of a connection string and of its sources, and checks every value.
//
//   const Sources sources = system_sources();
//   auto target = read_target("postgresql://app@db1,db2/shop?sslmode=verify-full", sources);
//
// Values that cannot work are errors before a socket is opened. Examples are a port beyond 65535,
// a path that is too long for a Unix socket, and `verify-full` without a name.
//
// Owns       nothing.
// Thread     any; the sources may block.
// Allocates  the target.
// Fails      invalid_argument; not_found for a service; unsupported for what libpq has and KATANA
//            does not. The error names the keyword, its source and the remedy.
// Invariant  no error and no warning has a byte of a password.
// Source     PostgreSQL 18, "Parameter Key Words", "Specifying Multiple Hosts"
#pragma once

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/target/settings.hpp"
#include "katana/stores/database/postgres/target/sources.hpp"
#include "katana/stores/database/postgres/target/target.hpp"

namespace katana::database::postgres::target {

// Reads a connection string of either form, and adds the values of the sources.
katana::Result<Target> read_target(Bytes connection_string, const Sources& sources);
// As read_target(), from settings that add_defaults() has completed.
katana::Result<Target> make_target(const Settings& settings, const Sources& sources);
// Reads the password file again, which may have changed, for each server.
void read_passwords(Target& target, const Sources& sources);

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
