// Rules for every result of a load, whatever the protocol and the server.
#pragma once

#include <gtest/gtest.h>

#include "lab/load/run.hpp"

namespace katana::load {

// Every request that was sent ended in exactly one way.
inline void expect_all_accounted_for(const RunResult& result) {
  const Counts& counts = result.total.counts;
  std::uint64_t ended = counts.requests;
  for (std::size_t index = 0; index < failure_count; ++index) {
    if (is_of_request(static_cast<Failure>(index))) ended += counts.failures[index];
  }
  for (const OwnStatistics& own : result.threads) ended += own.in_flight_at_end;
  EXPECT_EQ(counts.sent, ended);
  EXPECT_EQ(result.total.latency.count(), counts.requests);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
