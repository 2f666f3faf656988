// The figures and checks of a program's systems, for its /metrics and /ready: pools, database, log.
//
//   katana_pool_…{pool}    threads, queued, jobs, busy time, waits
//   katana_database_…      reads, writes, commits, refusals, queues
//   katana_log_…           records, dropped, lost, waiting
//   katana_sandbox_…       refused system calls
//   katana_crash_reports   kept reports of crashes
//
// Owns       nothing.
// Borrows    the registry, and the registered systems, which outlive its last scrape and check.
// Thread     any.
// Allocates  when registered.
// Fails      with an Error that names the metric or check.
// Invariant  a system pays nothing unless it is asked.
#pragma once

#include <string>

#include "katana/app/pools.hpp"
#include "katana/app/settings.hpp"
#include "katana/base/system/result.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {

Result<void> add_pool_metrics(metrics::Registry& registry, const Pools& pools);  // katana_pool_…
Result<void> add_bus_metrics(metrics::Registry& registry, const bus::Bus& bus);  // katana_bus_…
// katana_database_…
Result<void> add_database_metrics(metrics::Registry& registry, const database::Database& database);
Result<void> add_log_metrics(metrics::Registry& registry, const log::Log& log);  // katana_log_…
// Adds the calls that process.sandbox refused, for the whole process.
Result<void> add_sandbox_metrics(metrics::Registry& registry);

// The crash reports that were kept at the start; no figure without a folder for them.
Result<void> add_crash_metrics(metrics::Registry& registry, const std::string& folder,
                               const std::string& program);

// A warning while an output of the log fails or is slow: requests are served all the same.
Result<void> add_log_check(metrics::HealthChecks& checks, const log::Log& log);
// Adds checks that are not ready while the queue of a pool is full: requests would be refused.
Result<void> add_pool_checks(metrics::HealthChecks& checks, const Pools& pools);
// Not ready while a service that is named in the settings does not answer.
Result<void> add_upstream_checks(metrics::HealthChecks& checks,
                                 const ApplicationSettings& settings);
// Not ready while the database is not usable.
Result<void> add_database_check(metrics::HealthChecks& checks, const database::Database& database);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
