// ChatPlan: what a chat load is to be.
//
// Thread: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace katana::chat_load {

struct Target {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9000;
};

struct ChatPlan {
  // The servers of one chat: the connections go to them in turn.
  std::vector<Target> targets = {Target{}};
  std::uint32_t connections = 100;
  double duration_s = 10;
  std::uint32_t message_bytes = 64;    // a line with its line feed
  double rate_per_s = 10;              // for each sender; 0: it sends nothing
  bool receive = true;                 // every receiver reads and checks all it gets
  bool burst = false;                  // all senders send a second's messages at once, each second
  std::uint32_t senders = UINT32_MAX;  // the first so many connections
  std::uint32_t receivers = UINT32_MAX;  // the last so many
  std::uint32_t threads = 1;
  double settle_s = 10;   // for messages on their way when sending ends
  double quiet_s = 1;     // without a delivery, after which nothing more is waited for
  std::uint32_t run = 0;  // tells messages of this run from those of others; below 2^16

  std::uint32_t sender_count() const { return rate_per_s > 0 ? std::min(senders, connections) : 0; }
  std::uint32_t receiver_count() const { return receive ? std::min(receivers, connections) : 0; }
  bool sends(std::uint32_t connection) const { return connection < sender_count(); }
  bool receives(std::uint32_t connection) const {
    return connection >= connections - receiver_count();
  }
  std::size_t target_of(std::uint32_t connection) const { return connection % targets.size(); }
  // Tells its receivers before the run that they are in: two on each server.
  bool probes(std::uint32_t connection) const { return connection < 2 * targets.size(); }
  // The servers of which the connection is to hear a probe.
  std::uint64_t probes_due(std::uint32_t connection) const {
    std::uint64_t due = 0;
    for (std::uint32_t other = 0; other < connections && probes(other); ++other) {
      if (other != connection) due |= std::uint64_t{1} << target_of(other);
    }
    return due;
  }
  // When the message is due, from the start of the run on. Smooth: the senders share out the time
  // between two messages of one of them.
  std::int64_t due_ns(std::uint32_t sender, std::uint64_t sequence) const {
    if (burst) {
      const auto per_second = static_cast<std::uint64_t>(std::max(1.0, rate_per_s));
      const double second = rate_per_s >= 1 ? 1e9 : 1e9 / rate_per_s;
      return static_cast<std::int64_t>(static_cast<double>(sequence / per_second) * second);
    }
    const double interval_ns = 1e9 / rate_per_s;
    return static_cast<std::int64_t>(interval_ns * (static_cast<double>(sequence) +
                                                    static_cast<double>(sender) / sender_count()));
  }
};

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
