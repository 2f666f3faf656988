// Settings `queue`: the job queue of a program with a database; see stores/jobs/queue.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; what a value alone cannot say, ApplicationQueues::check() does.
// Invariant  all of it needs a restart.
#pragma once

#include <map>
#include <string>

#include "katana/base/values/described.hpp"
#include "katana/data/config/units.hpp"
#include "katana/stores/jobs/queue/types.hpp"

namespace katana::app {

// Of one queue: what is not said is as the program says.
struct QueueHandlerSettings {
  bool enabled = true;
  unsigned concurrency = 0;
  unsigned attempts_max = 0;
  Duration timeout = {};
  Duration lease = {};
  Duration backoff_min = {};
  Duration backoff_max = {};
  Duration poll = {};
  Duration done_kept = {};
  Duration dead_kept = {};
};
KATANA_DESCRIBE(
    QueueHandlerSettings,
    (enabled, help("false: this process does not work the queue; its jobs wait for others")),
    (concurrency, at_most(10'000), help("jobs at a time, in this process; 0: the program's")),
    (attempts_max, at_most(1000), help("then a job is a dead letter; 0: the program's")),
    (timeout, range(Duration{}, seconds(7 * 24 * 3600)),
     help("of one attempt; 0: the program's, as in what follows")),
    (lease, range(Duration{}, seconds(24 * 3600)),
     help("how long a process that dies keeps a job from the others")),
    (backoff_min, range(Duration{}, seconds(24 * 3600)), help("wait after the first failure")),
    (backoff_max, range(Duration{}, seconds(30 * 24 * 3600)),
     help("the wait doubles with each failure up to this")),
    (poll, range(Duration{}, seconds(3600)), help("between two looks for jobs of others")),
    (done_kept, range(Duration{}, seconds(std::int64_t{3660} * 24 * 3600)),
     help("how long done jobs stay in the table")),
    (dead_kept, range(Duration{}, seconds(std::int64_t{3660} * 24 * 3600)),
     help("how long dead letters do")))

struct QueueSettings {
  bool make_table = true;
  bool notify = true;
  config::ByteCount payload_max = config::kibibytes(64);
  std::map<std::string, QueueHandlerSettings> handlers;
};
KATANA_DESCRIBE(
    QueueSettings,
    (make_table, help("make the table katana_queue_jobs when it is first needed; false: the "
                      "program's migrations have it")),
    (notify, help("PostgreSQL: queue with NOTIFY, and LISTEN on a connection of its own; false: "
                  "workers find jobs by their polls")),
    (payload_max, range(config::ByteCount{1}, config::mebibytes(16)),
     help("bytes of a job, which is JSON")),
    (handlers, help("queues that the program handles, by name")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
