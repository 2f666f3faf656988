// The second level of a cache in Redis.
//
// Links      stores/cache/redis
#pragma once

#include "katana/stores/cache/redis/redis_level.hpp"

// SPDX-License-Identifier: Apache-2.0
