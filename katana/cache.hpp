// A cache in memory that loads each key once, and its interface for a second level.
//
// Links      stores/cache
#pragma once

#include "katana/stores/cache/cache.hpp"
#include "katana/stores/cache/second_level.hpp"

// SPDX-License-Identifier: Apache-2.0
