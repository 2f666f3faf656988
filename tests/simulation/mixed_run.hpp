// MixedRun: one seed of clients that speak different protocols to the same handlers at once. They
// are HTTP/1.1 and HTTP/2, each as it stands and under TLS, and WebSocket on both.
//
// These rules hold, whatever the kernel and the network do:
//
//   - every request is answered once, with its own content;
//   - the messages of a WebSocket connection arrive at its handler and come back in their order;
//   - each of these messages comes once, and none behind the close of its connection;
//   - a published message reaches every subscriber in the publisher's order;
//   - handlers are told of open and close once;
//   - memory is bounded, and all of it is given back in the end.
//
// For a client that leaves, or is reset, the same holds up to then.
//
// Allocates  as std::string does.
// Thread     one.
// Fails      the verdict's faults say what is wrong, with the explanation of SimNetwork.
// Invariant  the same seed gives the same run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/simulation/seed_run.hpp"

namespace katana::simulation {

SeedVerdict run_mixed_seed(std::uint64_t seed, std::size_t trace_lines_max, bool always_explain);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
