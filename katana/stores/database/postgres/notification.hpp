// Notification: one notification of a channel of PostgreSQL; see notifications.hpp.
//
// Owns       its payload.
// Thread     a value.
// Allocates  as strings do.
// Invariant  may_have_missed comes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace katana::database::postgres {

inline constexpr std::size_t notification_bytes_max = 7999;  // of a payload
inline constexpr std::size_t channel_bytes_max = 63;  // of a channel's name (NAMEDATALEN - 1)
inline constexpr std::size_t notification_queue_max = 1024;  // items that a subscription keeps

struct Notification {
  bool may_have_missed = false;  // and nothing else
  std::string payload = {};      // as notify() was given it; may be empty
  std::int32_t sender = 0;       // the process of the server's session that sent it
};

// The function of a NotificationHandler.
using OnNotification = std::function<void(const Notification&)>;

// The counts of one Notifications since it was opened.
struct NotificationStatistics {
  std::uint64_t received = 0;  // notifications of all channels
  std::uint64_t dropped = 0;   // because a queue was full
  std::uint64_t sessions = 0;  // that were begun
  bool listening = false;      // a session is there
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
