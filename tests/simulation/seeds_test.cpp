// The seeds of one share (seed_share.hpp). tools/replay SEED runs one, and tools/replay --mixed
// SEED one of the mixed workloads, of which there are fewer: KATANA_MIXED_SEEDS.
//
//   KATANA_TRACE  a number: prints so many lines of what happened, however it ends
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/simulation/mixed_run.hpp"
#include "tests/simulation/seed_run.hpp"
#include "tests/simulation/seed_share.hpp"

namespace katana::simulation {
namespace {

using RunSeed = SeedVerdict (*)(std::uint64_t seed, std::size_t trace_lines_max, bool explain);

std::uint64_t run_share(const SeedShare& share, RunSeed run, const char* command) {
  const std::uint64_t trace = number_from("KATANA_TRACE", 0);
  std::uint64_t requests = 0;
  int failures_left = 3;  // the reports of more would hide the first
  share.for_each([&](std::uint64_t seed) {
    const SeedVerdict verdict = run(seed, trace != 0 ? trace : 60, trace != 0);
    requests += verdict.requests;
    if (trace != 0) fmt::print("{}\n", verdict.explanation);
    if (verdict.faults.empty()) return true;
    std::string report;
    for (const std::string& fault : verdict.faults) report += "  " + fault + "\n";
    ADD_FAILURE() << "seed " << seed << ":\n"
                  << report << "Replay it: " << command << " " << seed << "\n\n"
                  << (trace != 0 ? "" : verdict.explanation);
    return --failures_left > 0;
  });
  return requests;
}

TEST(Seeds, every_request_gets_its_reply_whatever_the_kernel_and_the_network_do) {
  const SeedShare share(KATANA_SEEDS_DEFAULT, "tools/replay");
  RecordProperty("requests", static_cast<int>(run_share(share, &run_seed, "tools/replay")));
}

TEST(MixedSeeds, protocols_side_by_side_keep_what_each_promises) {
  const SeedShare share(KATANA_MIXED_SEEDS_DEFAULT, "tools/replay --mixed", "KATANA_MIXED_SEEDS");
  RecordProperty("requests",
                 static_cast<int>(run_share(share, &run_mixed_seed, "tools/replay --mixed")));
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
