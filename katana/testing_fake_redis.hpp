// A Redis server for the programs of a World, in virtual time.
//
// Links      testing/redis/fake
#pragma once

#include "katana/testing/redis/fake/fake_redis.hpp"

// SPDX-License-Identifier: Apache-2.0
