// SQLite: a Database of a file.
//
// Links      stores/database/sqlite
#pragma once

#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

// SPDX-License-Identifier: Apache-2.0
