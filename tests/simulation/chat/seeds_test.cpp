// The seeds of one share (tests/simulation/seed_share.hpp). tools/replay --chat SEED runs one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/simulation/chat/chat_seed.hpp"
#include "tests/simulation/seed_share.hpp"

namespace katana::simulation {
namespace {

TEST(ChatSeeds, every_message_is_delivered_once_or_counted_whatever_happens) {
  const SeedShare share(KATANA_SEEDS_DEFAULT, "tools/replay --chat");
  ChatVerdict sum;
  int failures_left = 3;  // the reports of more would hide the first
  share.for_each([&](std::uint64_t seed) {
    const ChatVerdict verdict = run_chat_seed(seed);
    sum.deliveries += verdict.deliveries;
    sum.dropped += verdict.dropped;
    sum.relayed += verdict.relayed;
    if (verdict.faults.empty()) return true;
    std::string report;
    for (const std::string& fault : verdict.faults) report += "  " + fault + "\n";
    ADD_FAILURE() << "seed " << seed << ":\n"
                  << report << "Replay it: tools/replay --chat " << seed << "\n\n"
                  << verdict.explanation;
    return --failures_left > 0;
  });
  fmt::print("{} messages received, {} dropped, {} batches relayed\n", sum.deliveries, sum.dropped,
             sum.relayed);
  // Seeds without losses would prove little.
  if (share.count() < 100) return;
  EXPECT_GT(sum.deliveries, share.count());
  EXPECT_GT(sum.dropped, share.count() / 10);
  EXPECT_GT(sum.relayed, share.count());
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
