// Configuration: described structs from YAML, variables and flags.
//
// Links      data/config
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/data/config/config.hpp"

// SPDX-License-Identifier: Apache-2.0
