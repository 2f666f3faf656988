// LimitsRun: clients of a service behind every limit that a server has. Each client leaves in its
// own way and at any moment. Nothing runs, waits or is kept beyond a limit at the end of any turn,
// and nothing is left when all is over.
//
// Owns       the world, the service and its clients; a run is a call.
// Thread     one.
// Fails      the verdict says what did not hold.
// Invariant  the same seed gives the same run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace katana::simulation {

struct LimitsVerdict {
  std::vector<std::string> faults;  // empty: every limit held
  std::string explanation;          // for a run with faults: the network's last lines
  std::uint64_t begun = 0;          // handlers, and tasks of handlers
  std::uint64_t ended = 0;          // the part of them that came to their end
  std::size_t most_at_once = 0;
};

// Several clients of both protocols, with many requests each.
LimitsVerdict run_limits(std::uint64_t seed);

// The ways in which a client leaves.
enum class Exit : std::uint8_t { reset, close, half_close, reset_stream };
struct ExitPlan {
  const char* path = "/limited/wait/40";
  bool is_http2 = false;
  bool has_key = true;
  Exit how = Exit::reset;
  unsigned turns = 0;  // turns of the server before it leaves
};
// One client with one request, that leaves after so many turns.
LimitsVerdict run_exit(const ExitPlan& plan);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
