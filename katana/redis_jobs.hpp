// One instance of a program runs a job, by a lock in Redis.
//
// Links      stores/jobs/redis
#pragma once

#include "katana/stores/jobs/redis/redis_job_lock.hpp"

// SPDX-License-Identifier: Apache-2.0
