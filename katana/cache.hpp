// A cache in memory, with loads that are made once, and its seam for a second level.
//
// Links      stores/cache
#pragma once

#include "katana/stores/cache/cache.hpp"
#include "katana/stores/cache/second_level.hpp"

// SPDX-License-Identifier: Apache-2.0
