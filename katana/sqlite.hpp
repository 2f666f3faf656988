// SQLite: a Database of a file.
//
// Links      stores/database/sqlite
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

// SPDX-License-Identifier: Apache-2.0
