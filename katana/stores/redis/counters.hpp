// Counters: the counts of a client on one reactor. Totals: those of all reactors.
//
// Owns       numbers.
// Thread     its reactor's adds; any reads.
// Allocates  never.
// Invariant  adding costs no locked instruction: each has one thread that writes.
#pragma once

#include <cstdint>

#include "katana/base/values/tally.hpp"

namespace katana::redis {

struct Counters {
  Tally commands;          // that were sent
  Tally server_errors;     // replies that are errors
  Tally timeouts;          // calls whose deadline came, sent or not
  Tally unavailable;       // calls that failed because no server was up
  Tally unknown_outcomes;  // of those that were sent, and do not only read
  Tally overloads;         // calls that were refused by a limit
  Tally abandoned;         // replies without a command
  Tally pushes;            // that were not requested
  Tally protocol_errors;   // connections given up because of what the server said
  Tally scripts_sent;      // again with their text, because the server did not know the digest
  Tally replies;           // that came for somebody
  Tally reply_wait_ns;     // how long after the command was written, of all of these together
  Tally waiting;           // commands that wait now, for a server or for its reply
  Tally waiting_bytes;     // of those that are not written
};

// The sums of all reactors; the waiting ones are those of now.
struct Totals {
  std::uint64_t commands = 0;          // sent
  std::uint64_t server_errors = 0;     // replies that are errors
  std::uint64_t timeouts = 0;          // calls whose deadline came
  std::uint64_t unavailable = 0;       // calls that found no server up
  std::uint64_t unknown_outcomes = 0;  // sent, not only reading, and without a reply
  std::uint64_t overloads = 0;         // calls refused by a limit
  std::uint64_t abandoned = 0;         // replies without a command
  std::uint64_t pushes = 0;            // that were not requested
  std::uint64_t protocol_errors = 0;   // connections given up for what the server said
  std::uint64_t scripts_sent = 0;      // with their text, for an unknown digest
  std::uint64_t replies = 0;           // that came for somebody
  std::uint64_t reply_wait_ns = 0;     // of all of these together
  std::uint64_t waiting = 0;           // commands, now
  std::uint64_t waiting_bytes = 0;     // of those that are not written

  Totals& operator+=(const Counters& of) noexcept {
    commands += of.commands.read();
    server_errors += of.server_errors.read();
    timeouts += of.timeouts.read();
    unavailable += of.unavailable.read();
    unknown_outcomes += of.unknown_outcomes.read();
    overloads += of.overloads.read();
    abandoned += of.abandoned.read();
    pushes += of.pushes.read();
    protocol_errors += of.protocol_errors.read();
    scripts_sent += of.scripts_sent.read();
    replies += of.replies.read();
    reply_wait_ns += of.reply_wait_ns.read();
    waiting += of.waiting.read();
    waiting_bytes += of.waiting_bytes.read();
    return *this;
  }
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
