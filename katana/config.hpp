// Configuration: described structs from YAML, variables and flags.
//
// Links      data/config
#pragma once

#include "katana/data/config/compiled_group.hpp"
#include "katana/data/config/composition.hpp"
#include "katana/data/config/config.hpp"

// SPDX-License-Identifier: Apache-2.0
