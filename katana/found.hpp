// Rows that must exist: database::found() returns an Error that is 404 for clients.
//
// Links      stores/database
#pragma once

#include "katana/stores/database/found.hpp"

// SPDX-License-Identifier: Apache-2.0
