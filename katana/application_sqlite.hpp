// An application with SQLite.
//
// Links      app/sqlite
#pragma once

#include "katana/app/application_core.hpp"
#include "katana/app/sqlite/sqlite.hpp"

// SPDX-License-Identifier: Apache-2.0
