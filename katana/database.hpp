// Databases: statements, rows, transactions and migrations, whatever the driver. Drivers are
// katana/sqlite.hpp and katana/postgres.hpp.
//
// Links      stores/database
#pragma once

#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"

// SPDX-License-Identifier: Apache-2.0
