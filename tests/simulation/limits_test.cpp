// Limits hold whatever clients do: admitted requests count until their work has ended.
//
//   KATANA_LIMITS_SEEDS  how many seeds, of all shares
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "tests/simulation/limits_run.hpp"
#include "tests/simulation/seed_share.hpp"

namespace katana::simulation {
namespace {

std::string text_of(const LimitsVerdict& verdict) {
  std::string text;
  for (const std::string& fault : verdict.faults) text += "\n  " + fault;
  return text + "\n" + verdict.explanation;
}

TEST(LimitSeeds, no_limit_is_passed_and_nothing_is_left_whatever_clients_do) {
  const SeedShare share(KATANA_LIMITS_SEEDS_DEFAULT,
                        "KATANA_LIMITS_SEEDS=1 simulation_limits with KATANA_FIRST_SEED",
                        "KATANA_LIMITS_SEEDS");
  std::uint64_t begun = 0, ended = 0, runs = 0;
  std::size_t most = 0;
  share.for_each([&](std::uint64_t seed) {
    const LimitsVerdict verdict = run_limits(seed);
    EXPECT_TRUE(verdict.faults.empty()) << "seed " << seed << text_of(verdict);
    begun += verdict.begun;
    ended += verdict.ended;
    most = std::max(most, verdict.most_at_once);
    ++runs;
    return verdict.faults.empty();
  });
  RecordProperty("begun", std::to_string(begun));
  RecordProperty("ended", std::to_string(ended));
  EXPECT_GE(begun, 4 * runs) << "too few handlers to say anything";
  EXPECT_GE(most, 3u);
}

// Every turn that a request takes, so every place at which its handler, its middleware or its store
// waits; a sanitizer's shares take every third.
TEST(LimitExits, a_client_that_leaves_at_any_turn_leaves_nothing_behind) {
  const std::uint64_t shards = number_from("KATANA_SHARDS", 1) * KATANA_LIMITS_STEP;
  std::uint64_t number = number_from("KATANA_SHARD", 0);
  static constexpr std::array<const char*, 7> paths = {
      "/limited/wait/20", "/limited/json/20", "/limited/spawn/20", "/limited/stream/20",
      "/limited/plain",   "/limited/socket",  "/free/wait/20"};
  static constexpr std::array<Exit, 4> exits = {Exit::reset, Exit::close, Exit::half_close,
                                                Exit::reset_stream};
  for (const char* const path : paths) {
    for (const Exit how : exits) {
      for (unsigned turns = 0; turns <= 60; ++turns) {
        if (number++ % shards != 0) continue;
        const bool is_http2 = how == Exit::reset_stream || turns % 2 == 1;
        const LimitsVerdict verdict =
            run_exit({.path = path, .is_http2 = is_http2, .how = how, .turns = turns});
        ASSERT_TRUE(verdict.faults.empty()) << path << " exit " << static_cast<int>(how)
                                            << " after " << turns << " turns" << text_of(verdict);
      }
    }
  }
}

TEST(LimitExits, a_handler_with_a_key_comes_to_its_end_and_one_without_does_not) {
  for (const Exit how : {Exit::reset, Exit::half_close, Exit::reset_stream}) {
    const bool is_http2 = how == Exit::reset_stream;
    ExitPlan plan{.path = "/limited/wait/100", .is_http2 = is_http2, .how = how, .turns = 40};
    const LimitsVerdict with_key = run_exit(plan);
    EXPECT_EQ(with_key.begun, 1u);
    EXPECT_EQ(with_key.ended, 1u) << static_cast<int>(how);
    plan.has_key = false;
    const LimitsVerdict without = run_exit(plan);
    EXPECT_EQ(without.begun, 1u);
    EXPECT_EQ(without.ended, 0u) << static_cast<int>(how);
  }
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
