// IdentityRun: many connections at once, whose requests each carry an identity. The reply, the
// records and the counts of a request must carry the same one. Records are those of access, of slow
// requests, of the trace, and of the span (begin and end of the exchange). Metrics count the
// request by its route.
//
// Owns       the world, its clients, a log and metrics.
// Thread     one.
// Fails      the verdict says what did not hold.
// Invariant  the same seed gives the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace katana::simulation {

struct IdentityVerdict {
  std::vector<std::string> faults;  // empty: nothing was mixed up
  std::string explanation;          // for a run with faults: the network's last lines
  std::uint64_t requests = 0;
  std::uint64_t replies_checked = 0;
  std::uint64_t records = 0;  // access and slow
  std::uint64_t spans = 0;    // of requests, and below them
};

struct IdentityPlan {
  std::uint64_t seed = 1;
  std::size_t connections = 100;
  bool observed = true;  // with log, metrics, ids and spans
};

IdentityVerdict run_identities(const IdentityPlan& plan);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
