// Sessions and idempotency keys in Redis.
//
// Links      identity/sessions/redis identity/idempotency/redis
#pragma once

#include "katana/identity/idempotency/redis/key_store.hpp"
#include "katana/identity/sessions/redis/session_keys.hpp"

// SPDX-License-Identifier: Apache-2.0
