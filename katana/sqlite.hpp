// SQLite: a Database of a file.
//
// Links      database/sqlite
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/database/migrations.hpp"
#include "katana/database/sqlite/sqlite.hpp"

// SPDX-License-Identifier: Apache-2.0
