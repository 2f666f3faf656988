// Configuration: described structs from YAML, variables and flags.
//
// Links      config
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/config/config.hpp"

// SPDX-License-Identifier: Apache-2.0
