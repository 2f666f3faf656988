// SeedRun: one seed's workload in the calm world and in its own, and the rules for both.
//
// Owns       nothing; a run is a call.
// Thread     one.
// Fails      by the sentences it returns; what breaks an obligation of the reactor aborts.
// Invariant  the verdict of a seed is the same everywhere.
//
// The checks:
//   every client    replies have the status and the content that the plan knows, in order, one
//                   for each request; nothing that is no reply comes
//   against calm    they equal byte for byte those of the run without faults, whose bytes were not
//                   cut; a client that left early, or lost its connection, has a prefix of them
//   the server      gives everything back (World::faults_at_rest), counts what it did, holds no
//                   more memory than its connections may, and does not spin
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace katana::simulation {

struct SeedVerdict {
  std::vector<std::string> faults;  // empty: passed
  std::string explanation;          // for a failed run with faults: seed, faults, trace
  std::uint64_t requests = 0;
  std::uint64_t turns = 0;
};

SeedVerdict run_seed(std::uint64_t seed, std::size_t trace_lines_max, bool always_explain);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
