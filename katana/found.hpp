// Rows that have to be there: database::found(), whose Error is 404 for clients.
//
// Links      stores/database
#pragma once

#include "katana/stores/database/found.hpp"

// SPDX-License-Identifier: Apache-2.0
