// The seeds of one shard.
//
//   KATANA_SEEDS       how many seeds, of all shards
//   KATANA_FIRST_SEED  the first of them; with KATANA_SEEDS=1 in shard 0 it is the only one
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/simulation_chat/chat_seed.hpp"

namespace katana::simulation {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint64_t present_seed = 0;

// What aborts cannot say which seed it was.
void on_abort(int) {
  std::fprintf(stderr, "chat simulation: seed %llu\n",
               static_cast<unsigned long long>(present_seed));
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

TEST(ChatSeeds, every_message_is_delivered_once_or_counted_whatever_happens) {
  std::signal(SIGABRT, &on_abort);
  const std::uint64_t first = number_from("KATANA_FIRST_SEED", 1);
  const std::uint64_t count = number_from("KATANA_SEEDS", KATANA_SEEDS_DEFAULT);
  ChatVerdict sum;
  int failures_left = 3;  // the reports of more would hide the first
  for (std::uint64_t seed = first + KATANA_SHARD; seed < first + count; seed += KATANA_SHARDS) {
    present_seed = seed;
    const ChatVerdict verdict = run_chat_seed(seed);
    sum.deliveries += verdict.deliveries;
    sum.dropped += verdict.dropped;
    sum.relayed += verdict.relayed;
    if (verdict.faults.empty()) continue;
    std::string report;
    for (const std::string& fault : verdict.faults) report += "  " + fault + "\n";
    ADD_FAILURE() << "seed " << seed << ":\n"
                  << report << "Repeat it: KATANA_FIRST_SEED=" << seed
                  << " KATANA_SEEDS=1 build/dev/simulation_chat_seeds_0\n\n"
                  << verdict.explanation;
    if (--failures_left == 0) return;
  }
  fmt::print("{} messages received, {} dropped, {} batches relayed\n", sum.deliveries, sum.dropped,
             sum.relayed);
  // Seeds that bring nobody to lose anything would prove little.
  if (count < 100) return;
  EXPECT_GT(sum.deliveries, count);
  EXPECT_GT(sum.dropped, count / 10);
  EXPECT_GT(sum.relayed, count);
}

}  // namespace
}  // namespace katana::simulation
