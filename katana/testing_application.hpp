// A whole program in the process of its test, in virtual time; a database for one test.
//
// Links      testing/application testing/database testing/bus
#pragma once

#include "katana/testing/application/test_application.hpp"
#include "katana/testing/bus/bus_network.hpp"
#include "katana/testing/database/temporary_database.hpp"

// SPDX-License-Identifier: Apache-2.0
