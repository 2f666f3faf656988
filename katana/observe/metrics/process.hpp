// Process: the kernel's figures about this process, as metrics with the names that dashboards
// expect: process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes,
// process_open_fds, process_max_fds, process_start_time_seconds, process_threads.
//
// Thread     that of the scrape.
// Allocates  while reading; a scrape is not a hot path.
// Fails      read_process() names the unreadable file; a figure that cannot be read at a scrape
//            keeps its last value.
// Source     proc(5): stat, limits, fd.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "katana/base/system/result.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::metrics {

// One reading of /proc/self.
struct ProcessStatistics {
  double cpu_seconds = 0;         // user and system
  double start_time_seconds = 0;  // Unix time
  double resident_bytes = 0;      // in RAM
  double virtual_bytes = 0;       // of address space
  double threads = 0;             // at present
  double open_fds = 0;            // at present
  double max_fds = 0;             // +Inf: unlimited
};

// The units of the kernel's figures.
struct ProcessUnits {
  double ticks_per_second = 100;  // of CPU times in /proc/self/stat (_SC_CLK_TCK)
  double page_bytes = 4096;       // of sizes in /proc/self/stat (_SC_PAGESIZE)
};
ProcessUnits system_units() noexcept;  // of this machine

// `root` is the mount point of proc. `start_time_seconds` is the result of an earlier call, because
// it does not change and is costly to find; 0: finds it.
Result<ProcessStatistics> read_process(const std::string& root = "/proc",
                                       const ProcessUnits& units = system_units(),
                                       double start_time_seconds = 0);

// Registers the process_* metrics, which are read at each scrape. Once per registry.
Result<void> add_process_metrics(Registry& registry, const std::string& root = "/proc");

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
