// run_chat_seed(): one seed's clients, faults and limits, and everything that must hold.
//
// Even seeds are steady: nothing loses bytes and no client leaves. Every recipient must get each
// message of the others exactly once, or be told of it in a number of missed ones. Odd seeds are
// wild: resets, early ends, rooms and names. Order, wholeness and bounds must hold, and everything
// must be counted and given back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace katana::simulation {

struct ChatVerdict {
  std::vector<std::string> faults;  // empty: all is well
  std::string explanation;          // the seed, its faults, and the trace; when there is a fault
  std::uint64_t deliveries = 0;
  std::uint64_t dropped = 0;
  std::uint64_t relayed = 0;
};

ChatVerdict run_chat_seed(std::uint64_t seed, bool always_explain = false);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
