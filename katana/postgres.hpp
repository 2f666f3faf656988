// PostgreSQL: a Database of a server.
//
// Links      stores/database/postgres
#pragma once

#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

// SPDX-License-Identifier: Apache-2.0
