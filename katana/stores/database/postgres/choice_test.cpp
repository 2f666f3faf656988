#include "katana/stores/database/postgres/choice.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace katana::database::postgres {
namespace {

constexpr Duration slow_after = milliseconds(5);

std::size_t chosen(std::vector<Candidate> candidates) { return choose(candidates, 4, slow_after); }

TEST(PostgresChoice, statements_of_a_turn_go_together) {
  EXPECT_EQ(chosen({{}, {.load = 2, .given_this_turn = true}}), 1u);
  EXPECT_EQ(chosen({{}, {.load = 4, .given_this_turn = true}}), 0u) << "until it is full";
  EXPECT_EQ(chosen({{}, {.load = 2, .given_this_turn = true, .age = slow_after}}), 0u)
      << "not behind a slow one";
}

TEST(PostgresChoice, an_idle_connection_is_taken_before_a_busy_one) {
  EXPECT_EQ(chosen({{.load = 1}, {}, {}}), 1u) << "the first, so that others stay idle";
}

TEST(PostgresChoice, quick_statements_are_pipelined_before_a_connection_is_opened) {
  EXPECT_EQ(chosen({{.load = 3}, {.load = 1}}), 1u);
}

TEST(PostgresChoice, nothing_goes_behind_a_slow_statement_or_above_the_depth) {
  EXPECT_EQ(chosen({{.load = 1, .age = slow_after}}), no_candidate);
  EXPECT_EQ(chosen({{.load = 4}}), no_candidate);
  EXPECT_EQ(chosen({}), no_candidate);
}

TEST(PostgresChoice, attempts_to_connect_become_rarer_up_to_a_limit) {
  const auto most_of = [](unsigned failures) {
    return backoff(failures, milliseconds(50), seconds(2), UINT64_MAX - 1).count_ms();
  };
  const auto least_of = [](unsigned failures) {
    return backoff(failures, milliseconds(50), seconds(2), 0).count_ms();
  };
  EXPECT_EQ(least_of(1), 25);
  EXPECT_LE(most_of(1), 50);
  EXPECT_EQ(least_of(2), 50);
  EXPECT_EQ(least_of(100), 1000);
  EXPECT_LE(most_of(100), 2000);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
