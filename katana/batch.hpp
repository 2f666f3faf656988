// One statement with many rows of parameters: database::execute_many() and execute_each().
//
// Links      stores/database
#pragma once

#include "katana/stores/database/batch.hpp"

// SPDX-License-Identifier: Apache-2.0
