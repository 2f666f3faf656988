// run_load: a whole run: threads, intervals, signals, and the result.
//
// Owns       its workers for the call.
// Thread     the caller's, which waits; one more for each worker. SIGINT and SIGTERM of the process
//            end the run early; after the first one they end the process.
// Fails      without descriptors or threads. Failures of the server are in the result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "lab/load/figures.hpp"
#include "lab/load/plan.hpp"
#include "lab/load/target.hpp"
#include "lab/load/worker.hpp"

namespace katana::load {

struct IntervalStatistics {
  double begin_s = 0;  // since the measured window began; negative during the warm-up
  double duration_s = 0;
  std::uint64_t requests = 0;  // answered as expected; in the warm-up, ended
  std::uint64_t failures = 0;
  std::uint64_t bytes_received = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  std::uint32_t open = 0;
  std::uint32_t in_flight = 0;
  bool warm_up = false;
};

struct RunResult {
  Statistics total;
  std::vector<IntervalStatistics> series;  // at most series_max; later ones are in `total` only
  std::vector<OwnStatistics> threads;
  double duration_s = 0;     // of the measured window
  double began_epoch_s = 0;  // begin of the measured window, wall clock
  bool interrupted = false;
  bool connected = false;   // at least one connection opened before the run
  std::string tls_agreed;   // by the first handshake: version, cipher suite, protocol
  std::string tls_problem;  // the first there was
  std::size_t memory_bytes_max = 0;
  long rss_kib_max = 0;

  static constexpr std::size_t series_max = 86'400;
};

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Called after each interval, with the counts in it and the result up to it.
  virtual void on_interval(const IntervalStatistics& interval, const Statistics& counted,
                           const RunResult& so_far) = 0;
};

Result<std::unique_ptr<RunResult>> run_load(const LoadPlan& plan, const Target& target,
                                            RunObserver* observer);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
