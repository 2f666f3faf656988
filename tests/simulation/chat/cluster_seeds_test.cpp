// The seeds of one share (tests/simulation/seed_share.hpp). tools/replay --cluster SEED runs one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/simulation/chat/cluster_seed.hpp"
#include "tests/simulation/seed_share.hpp"

namespace katana::simulation {
namespace {

TEST(ClusterSeeds, every_message_is_delivered_or_told_between_servers_whatever_happens) {
  const SeedShare share(KATANA_SEEDS_DEFAULT, "tools/replay --cluster", "KATANA_CLUSTER_SEEDS");
  ClusterVerdict sum;
  int failures_left = 3;  // the reports of more would hide the first
  share.for_each([&](std::uint64_t seed) {
    const ClusterVerdict verdict = run_cluster_seed(seed);
    sum.deliveries += verdict.deliveries;
    sum.told_lost += verdict.told_lost;
    sum.told_dropped += verdict.told_dropped;
    sum.kills += verdict.kills;
    sum.renamed += verdict.renamed;
    sum.recalled += verdict.recalled;
    sum.departures += verdict.departures;
    if (verdict.faults.empty()) return true;
    std::string report;
    for (const std::string& fault : verdict.faults) report += "  " + fault + "\n";
    ADD_FAILURE() << "seed " << seed << ":\n"
                  << report << "Replay it: tools/replay --cluster " << seed << "\n\n"
                  << verdict.explanation;
    return --failures_left > 0;
  });
  fmt::print(
      "{} messages received, {} told as lost between servers, {} as dropped; {} servers killed, {} "
      "times one was taken for gone, {} clients renamed, {} lines of histories\n",
      sum.deliveries, sum.told_lost, sum.told_dropped, sum.kills, sum.departures, sum.renamed,
      sum.recalled);
  // Seeds in which nothing goes wrong would prove little.
  if (share.count() < 40) return;
  const std::uint64_t seeds = share.own_count();
  EXPECT_GT(sum.deliveries, seeds * 100);
  EXPECT_GT(sum.told_lost, seeds * 10);
  EXPECT_GT(sum.kills, seeds / 4);
  EXPECT_GT(sum.departures, seeds / 2);
  EXPECT_GT(sum.renamed, seeds / 20);  // few seeds have many: 10 of a hundred, 122 of another
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
