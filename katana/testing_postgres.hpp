// A PostgreSQL database for one test, in a server of the test's process.
//
// Links      testing/postgres
#pragma once

#include "katana/testing/postgres/temporary_postgres.hpp"

// SPDX-License-Identifier: Apache-2.0
