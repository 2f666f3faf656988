// Rate limits that instances share, in Redis.
//
// Links      http/middleware/redis
#pragma once

#include "katana/http/middleware/redis/redis_rate_limit.hpp"

// SPDX-License-Identifier: Apache-2.0
