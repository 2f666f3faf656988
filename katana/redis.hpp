// Redis: a client with a pool, pipelines, scripts, subscriptions, and a lock between instances.
//
// Links      stores/redis
#pragma once

#include "katana/stores/redis/client.hpp"
#include "katana/stores/redis/lock.hpp"

// SPDX-License-Identifier: Apache-2.0
