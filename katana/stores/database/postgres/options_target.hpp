// target_of(): the options of a database as a Target, with the values of the environment.
//
// `parameters` come first, then the members of Options, the service file, the environment and the
// defaults. KATANA's own defaults are keepalive after 30 s and tcp_user_timeout of 60 s. The
// hosts are those of the options: PGHOST and PGHOSTADDR do not replace them.
//
// Owns       nothing.
// Thread     any; the sources may block.
// Allocates  the target.
// Fails      as read_target(); invalid_argument for a parameter that is no keyword.
// Invariant  no error has a byte of a password.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/postgres/options.hpp"
#include "katana/stores/database/postgres/target/read_target.hpp"

namespace katana::database::postgres {

// `password` is that of password_of(); if it is empty, the password file of libpq may have one.
katana::Result<target::Target> target_of(const Options& options, const std::string& password,
                                         const target::Sources& sources);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
