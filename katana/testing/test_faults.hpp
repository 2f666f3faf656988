// Faults: disturbances of a test's connections by network and kernel, by names. Each is drawn from
// the seed of TestOptions, and nothing else is disturbed:
//
//   testing::TestServer server(make(), {.faults = testing::Faults().fragments(), .seed = 7});
//   .faults = testing::Faults().slow_network(milliseconds(80)).short_writes()
//
// Actions of a client are elsewhere: PendingReply::reset(), half_close() and pause_reading(), and
// TestOptions::reset_after_bytes.
//
// Owns       numbers.
// Thread     a value.
// Allocates  never.
// Fails      never.
// Invariant  without resets() no sent byte is lost.
#pragma once

#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/net/engine/sim/sim_faults.hpp"

namespace katana::testing {

class Faults {
 public:
  // Bytes arrive in segments of 1 to `bytes_max`, and the server gets parts of them.
  Faults& fragments(std::uint32_t bytes_max = 16) noexcept;
  // The kernel takes only a part of the server's output, or nothing at first.
  Faults& short_writes() noexcept;
  // Delays all data in each direction by `delay`, up to half as much again; at most one hour.
  Faults& slow_network(Duration delay) noexcept;
  // Each connection moves about so many bytes a second each way, with a delay of `delay` one way.
  Faults& slow_network(std::uint64_t bytes_per_s, Duration delay = milliseconds(50)) noexcept;
  // Resets a connection with probability `chance`, from 0 to 1, between its first moment and
  // `within`.
  Faults& resets(double chance = 1, Duration within = milliseconds(1)) noexcept;
  // Resets every connection at that moment; data in flight is lost.
  Faults& cut(Duration after) noexcept;
  // Each accept fails with probability `chance`, as if the process had no descriptor left.
  Faults& accept_failures(double chance = 0.5) noexcept;
  // Faults that any kernel may show and that no program may notice, mixed by the seed: deliveries
  // in any order, late completions, fragments, short writes.
  static Faults any(std::uint64_t seed) noexcept;

  // The faults as the simulated engine takes them.
  const engine::SimFaults& network() const noexcept { return faults_; }
  operator engine::SimFaults() const noexcept { return faults_; }  // as TestOptions::faults

 private:
  engine::SimFaults faults_ = engine::SimFaults::calm();
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
