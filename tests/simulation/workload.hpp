// Workload: the plans of the clients of one seed.
//
// Allocates  as std::string does.
// Thread     any.
// Invariant  a seed means the same workload everywhere. The smaller the pieces that the faults
//            deliver, the fewer bytes are sent.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/simulation/client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {

// The losses that the network of a seed may cause.
//   lossless  nothing is lost: every client gets all of its replies
//   closing   closing with input unread resets, and resets lose: a server that closes with care
//             loses nothing
//   lossy     the network resets connections, too
enum class Losses : std::uint8_t { lossless, closing, lossy };

struct Workload {
  Losses losses = Losses::lossless;
  SimFaults faults;
  std::vector<Plan> plans;
};

Workload draw_workload(std::uint64_t seed);
// Timeouts that no client of a workload meets by bad luck, whatever the faults do to it.
WorldOptions patient_options(std::uint64_t seed, const SimFaults& faults);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
