// Jobs: schedules and cron, a runner, one instance at a time, and a queue in a database.
//
// Links      stores/jobs stores/jobs/database stores/jobs/queue
#pragma once

#include "katana/stores/jobs/cron.hpp"
#include "katana/stores/jobs/database/database_lock.hpp"
#include "katana/stores/jobs/job.hpp"
#include "katana/stores/jobs/job_runner.hpp"
#include "katana/stores/jobs/lock.hpp"
#include "katana/stores/jobs/queue/delivery.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"
#include "katana/stores/jobs/queue/queue_worker.hpp"
#include "katana/stores/jobs/schedule.hpp"

// SPDX-License-Identifier: Apache-2.0
