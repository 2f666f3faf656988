// Completes settings from the sources, in libpq's order of precedence:
//
//   connection string  >  service file  >  environment  >  table of keywords
//
// Owns       nothing.
// Thread     any; the sources may block.
// Allocates  the values.
// Fails      as add_service().
// Invariant  no value replaces one of a source of higher precedence.
// Source     PostgreSQL 18, "Environment Variables"
#pragma once

#include "katana/base/system/result.hpp"
#include "katana/stores/database/postgres/target/settings.hpp"
#include "katana/stores/database/postgres/target/sources.hpp"

namespace katana::database::postgres::target {

// Adds values that `settings` does not have: of the service, of the environment, of the table. With
// sslrootcert=system, sslmode is then verify-full.
katana::Result<void> add_defaults(Settings& settings, const Sources& sources);

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
