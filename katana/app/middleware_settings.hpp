// Middleware settings: what an Application puts in front of every route of the program, each off
// unless it is enabled. Health, metrics and the pages of operations stand before them.
//
// Owns       values only.
// Thread     values.
// Allocates  as their options do.
// Fails      as Config does.
// Invariant  what is marked reloadable is applied to the requests that follow a reload; `enabled`
//            needs a restart, because what is off shall cost nothing.
#pragma once

#include "katana/app/option_descriptions.hpp"
#include "katana/base/values/described.hpp"
#include "katana/http/middleware/concurrency_limit.hpp"
#include "katana/http/middleware/load_shedding.hpp"
#include "katana/http/middleware/rate_limit.hpp"

namespace katana {
KATANA_DESCRIBE_ENUM(WhenLimitUnknown, local, refuse)
}  // namespace katana

namespace katana::app {

// Counted by the address of the peer; other keys are for code to choose.
struct RateLimitSettings : RateLimitOptions {
  bool enabled = false;
  bool shared = false;
  std::uint32_t lease = 5;
};
KATANA_DESCRIBE(RateLimitSettings, (enabled, help("limit the requests of each peer (429)")),
                (per_second, reloadable, range(0.001, 1e8),
                 help("requests of one address, on average")),
                (burst, reloadable, range(1, 1'000'000), help("the same, at once")),
                (keys_max, range(8, 1 << 24), help("addresses that are remembered")),
                (shared, help("counted by all instances together, in the Redis of `redis`")),
                (lease, range(1, 1'000'000),
                 help("requests that an instance takes at a time, so that most ask nobody; 1: "
                      "each asks")),
                (when_unknown,
                 help("while Redis cannot be asked: local: this instance counts alone; refuse: "
                      "503")))

struct ConcurrencySettings : ConcurrencyLimitOptions {
  bool enabled = false;
};
KATANA_DESCRIBE(ConcurrencySettings,
                (enabled, help("limit the requests that are served at a time (503)")),
                (running_max, reloadable, at_least(1), help("of the whole process")),
                (waiting_max, reloadable, help("requests that wait for that; more are refused")),
                (wait_max, reloadable, option_rules::timeout_or_none, help("how long they wait")),
                (busy_after, reloadable, option_rules::timeout_or_none,
                 help("a queue that stands for so long is busy")),
                (busy_wait_max, reloadable, option_rules::timeout_or_none,
                 help("how long a request waits in a busy queue")))

struct LoadSheddingSettings : LoadSheddingOptions {
  bool enabled = false;
};
KATANA_DESCRIBE(LoadSheddingSettings,
                (enabled, help("refuse what a reactor cannot answer in time (503)")),
                (utilisation_max, reloadable, range(0.01, 0.999),
                 help("share of its time that a reactor may be busy")),
                (window, range(milliseconds(1), seconds(60)),
                 help("the time over which that is measured")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
