// ClusterOptions: how the servers of one chat find one another, and how long they wait.
//
// Thread     a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/chat/cluster/frame.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::chat::cluster {

// USERn of a server with slot s are 1000 + s, 2000 + s, …: the last three digits are the server's.
inline constexpr std::uint16_t slots = 1000;

// The slot that a server of that name takes unless another one has it: FNV-1a, the same everywhere.
constexpr std::uint16_t default_slot(Bytes name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : name) hash = (hash ^ static_cast<std::uint8_t>(each)) * 0x100000001b3;
  return static_cast<std::uint16_t>((hash ^ hash >> 32) % slots);
}

struct ClusterOptions {
  // For this run; random, and not 0.
  NodeId id = 0;
  // The name of this server in logs, and the base of its slot: the same after a restart. 1 to 255
  // bytes.
  std::string name;
  // A slot fixed by the operator, who makes sure that no two servers have the same. None: the
  // server chooses one, and gives it up to a server that chose it earlier.
  std::optional<std::uint16_t> slot;
  // The wall-clock time at which `now` was 0, for comparison between servers.
  std::int64_t epoch_ms = 0;
  // The time between two heartbeats.
  Duration heartbeat = milliseconds(500);
  // One that has said nothing for so long is gone, and with it who was there.
  Duration expiry = seconds(3);
  // The others hear of who comes and goes at most so late; of the first in a room at once.
  Duration presence_interval = milliseconds(100);
  // A name is granted when all other servers have agreed, or have been silent for this time.
  Duration claim_timeout = milliseconds(400);
  // The time that a message may be on its way after its server said that it was sent.
  Duration gap_grace = milliseconds(300);
  // The most servers, this one included. Frames of further servers are ignored.
  std::uint32_t nodes_max = 128;
  // For one other server.
  std::uint32_t rooms_max = 16 * 1024;
  // Names that the others are told of for a room: what /who shows at most.
  std::uint32_t names_max = 100;
  // Servers that are gone, whose positions are kept in case that they were only cut off.
  std::uint32_t departed_max = 256;

  // The time from the kill of a server until all others know that it is gone.
  Duration gone_after_max() const noexcept { return {expiry.ns + heartbeat.ns}; }
};

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
