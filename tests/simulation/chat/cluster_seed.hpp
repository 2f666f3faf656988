// run_cluster_seed(): one seed's servers, clients and mishaps, and everything that must hold.
//
// All clients are in before one speaks. Then the bus loses messages, delays them, is cut between
// servers, or away from one. Servers are killed, and started again under the same name, and some
// clients do not read for a while. When that is over:
//
//   - each client of a server that was never killed received, or was told of, every message that
//     its server's clients sent or other servers published;
//   - a server that was never killed is heard to the end by all such servers;
//   - a server that was killed is heard equally far by all such servers;
//   - messages of one sender come in their order, whole, and once;
//   - every server knows of all others within the stated time, and no two clients have one name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace katana::simulation {

struct ClusterVerdict {
  std::vector<std::string> faults;  // empty: all is well
  std::string explanation;          // the seed, its faults, and the trace; when there is a fault
  std::uint64_t deliveries = 0;
  std::uint64_t told_lost = 0;
  std::uint64_t told_dropped = 0;
  std::uint64_t kills = 0;
  std::uint64_t renamed = 0;
  std::uint64_t recalled = 0;  // lines of histories
  std::uint64_t departures = 0;
};

ClusterVerdict run_cluster_seed(std::uint64_t seed, bool always_explain = false);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
