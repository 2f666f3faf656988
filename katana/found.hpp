// Rows that must exist, and values that must be free. For clients the Error of database::found() is
// 404, and that of database::not_taken() is 409.
//
// Links      stores/database
#pragma once

#include "katana/stores/database/found.hpp"

// SPDX-License-Identifier: Apache-2.0
