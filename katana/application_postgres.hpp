// An application with PostgreSQL.
//
// Links      app/postgres
#pragma once

#include "katana/app/application_core.hpp"
#include "katana/app/postgres/postgres.hpp"

// SPDX-License-Identifier: Apache-2.0
