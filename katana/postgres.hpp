// PostgreSQL: a Database of a server.
//
// Links      database/postgres
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/database/migrations.hpp"
#include "katana/database/postgres/postgres.hpp"

// SPDX-License-Identifier: Apache-2.0
