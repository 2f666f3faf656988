// run_chat_seed(): one seed's clients, faults and limits, and everything that must hold.
//
// Even seeds are steady: nothing loses bytes and no client leaves, so that for every recipient each
// message of the others was received exactly once, or is in the number that it was told of. Odd
// seeds are wild: resets, early ends, rooms and names; what must hold is order, wholeness, bounds,
// and that everything is counted and given back.
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
