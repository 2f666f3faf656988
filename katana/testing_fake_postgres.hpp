// A scripted PostgreSQL for tests, in virtual time.
//
// Links      testing/postgres/fake
#pragma once

#include "katana/testing/postgres/fake/fake_postgres.hpp"

// SPDX-License-Identifier: Apache-2.0
