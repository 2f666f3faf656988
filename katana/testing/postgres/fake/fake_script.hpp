// FakeScript: the state that the servers of a FakePostgres share: answers, faults and counts.
//
// Owns       its values.
// Borrows    the network.
// Thread     the network's.
// Allocates  for statements.
// Fails      find() is null: the text has no answer.
// Invariant  a counted fault happens once for each count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/testing/postgres/fake/fake_answer.hpp"

namespace katana::testing {

// The text with one space in place of each run of spaces and line ends, and none at its ends.
std::string in_one_line(Bytes text);

struct FakeScript {
  explicit FakeScript(engine::SimNetwork& of) noexcept : network(of) {}

  // Kept by statements that were prepared before another answer() for the text.
  std::shared_ptr<const FakeAnswer> find(Bytes text) const {
    const auto found = answers.find(in_one_line(text));
    return found == answers.end() ? nullptr : found->second;
  }

  engine::SimNetwork& network;                                       // of its servers
  std::map<std::string, std::shared_ptr<const FakeAnswer>> answers;  // by in_one_line()
  std::vector<FakeStatement> statements;                             // that were run, in order
  std::size_t commits = 0;  // that were acknowledged or lost
  std::size_t logins = 0;   // sessions that were begun

  Duration delay = {};                       // of each answer
  unsigned failures_left = 0;                // statements that are to fail
  std::string failure_state;                 // their SQLSTATE
  std::string failure_message;               // their message
  unsigned conflicts_left = 0;               // commits that are to fail as serialization failures
  unsigned refusals_left = 0;                // logins that are to be refused
  std::string refusal_state;                 // their SQLSTATE
  std::optional<std::size_t> sent_left;      // bytes until a reset; none: no reset is asked for
  std::optional<std::size_t> received_left;  // likewise
  bool hangs = false;                        // nothing is answered
};

// One server of them.
struct FakeServer {
  std::string name;         // "db.example:5432"
  std::uint16_t port = 0;   // of the simulated network
  bool is_primary = false;  // it takes writes
  bool is_down = false;     // it refuses connections
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
