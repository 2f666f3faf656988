// Faults: what network and kernel do to a test's connections, by names. Each is drawn from the
// seed of TestOptions, and nothing else is disturbed:
//
//   testing::TestServer server(make(), {.faults = testing::Faults().fragments(), .seed = 7});
//   .faults = testing::Faults().slow_network(milliseconds(80)).short_writes()
//
// What a client does alone is not here: PendingReply::reset(), half_close() and
// pause_reading(), and TestOptions::reset_after_bytes.
//
// Owns       numbers.
// Thread     a value.
// Allocates  never.
// Fails      never.
// Invariant  without resets() nothing that was sent is lost.
#pragma once

#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/net/engine/sim/sim_faults.hpp"

namespace katana::testing {

class Faults {
 public:
  // Bytes arrive in segments of 1 to `bytes_max`, and the server gets parts of them.
  Faults& fragments(std::uint32_t bytes_max = 16) noexcept;
  // The kernel takes a part of what the server sends, or nothing at first.
  Faults& short_writes() noexcept;
  // One way, of everything, up to half as much again; at most one hour.
  Faults& slow_network(Duration delay) noexcept;
  // Each connection moves about so many bytes a second each way, at `delay` one way.
  Faults& slow_network(std::uint64_t bytes_per_s, Duration delay = milliseconds(50)) noexcept;
  // `chance` of each connection, from 0 to 1, to be reset between its first moment and `within`.
  Faults& resets(double chance = 1, Duration within = milliseconds(1)) noexcept;
  // The same for every connection, at that moment; what was in flight is lost.
  Faults& cut(Duration after) noexcept;
  // `chance` of each attempt to accept a connection that the process has no descriptor left.
  Faults& accept_failures(double chance = 0.5) noexcept;
  // What any kernel may do and no program may notice, mixed by the seed: deliveries in any order,
  // late completions, fragments, short writes.
  static Faults any(std::uint64_t seed) noexcept;

  // As the simulated engine takes them.
  const engine::SimFaults& network() const noexcept { return faults_; }
  operator engine::SimFaults() const noexcept { return faults_; }  // as TestOptions::faults

 private:
  engine::SimFaults faults_ = engine::SimFaults::calm();
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
