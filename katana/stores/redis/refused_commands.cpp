#include "katana/stores/redis/refused_commands.hpp"

#include <array>

namespace katana::redis {
namespace {

constexpr const char* blocks =
    "it may block, and with it everybody's commands: ask again after a pause, or take NATS";
constexpr const char* transacts =
    "other callers' commands would come into the transaction: take a Script";
constexpr const char* listens =
    "it takes a connection for itself: to publish and subscribe, take katana/stores/bus";
constexpr const char* changes = "it changes the connection for everybody: say it in the Options";

struct Row {
  Bytes name;
  const char* why;
};
constexpr std::array rows = {
    Row{"BLPOP", blocks},        Row{"BRPOP", blocks},         Row{"BLMOVE", blocks},
    Row{"BLMPOP", blocks},       Row{"BRPOPLPUSH", blocks},    Row{"BZPOPMIN", blocks},
    Row{"BZPOPMAX", blocks},     Row{"BZMPOP", blocks},        Row{"WAIT", blocks},
    Row{"WAITAOF", blocks},      Row{"MULTI", transacts},      Row{"EXEC", transacts},
    Row{"DISCARD", transacts},   Row{"WATCH", transacts},      Row{"UNWATCH", transacts},
    Row{"SUBSCRIBE", listens},   Row{"PSUBSCRIBE", listens},   Row{"SSUBSCRIBE", listens},
    Row{"UNSUBSCRIBE", listens}, Row{"PUNSUBSCRIBE", listens}, Row{"SUNSUBSCRIBE", listens},
    Row{"MONITOR", listens},     Row{"SYNC", changes},         Row{"PSYNC", changes},
    Row{"SELECT", changes},      Row{"AUTH", changes},         Row{"HELLO", changes},
    Row{"RESET", changes},       Row{"QUIT", changes},         Row{"READONLY", changes},
    Row{"READWRITE", changes},   Row{"ASKING", changes}};

constexpr std::array client_subcommands = {Bytes("REPLY"), Bytes("TRACKING"), Bytes("CACHING"),
                                           Bytes("NO-TOUCH")};

}  // namespace

const char* why_refused(const Command& command) noexcept {
  const Bytes name = command.name();
  for (const Row& row : rows) {
    if (equals_ignoring_case(name, row.name)) return row.why;
  }
  const Bytes first = command.first_argument();
  if (equals_ignoring_case(name, "CLIENT")) {
    for (const Bytes each : client_subcommands) {
      if (equals_ignoring_case(first, each)) return changes;
    }
  }
  // With BLOCK, which stands anywhere before STREAMS.
  if ((equals_ignoring_case(name, "XREAD") || equals_ignoring_case(name, "XREADGROUP")) &&
      command.has_argument("BLOCK")) {
    return blocks;
  }
  return nullptr;
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
