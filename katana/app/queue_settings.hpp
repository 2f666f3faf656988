// Settings `queue`: the job queue of a program with a database; see stores/jobs/queue.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; ApplicationQueues::check() judges values that depend on one another.
// Invariant  all of it needs a restart.
#pragma once

#include <map>
#include <string>

#include "katana/base/values/instant.hpp"
#include "katana/data/config/units.hpp"
#include "katana/stores/jobs/queue/types.hpp"

namespace katana::app {

// Settings of one queue. A value that is absent keeps that of the program.
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

// The section `queue` of the configuration. `handlers` has the settings of each handler by its
// name.
struct QueueSettings {
  bool make_table = true;
  bool notify = true;
  config::ByteCount payload_max = config::kibibytes(64);
  std::map<std::string, QueueHandlerSettings> handlers;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
