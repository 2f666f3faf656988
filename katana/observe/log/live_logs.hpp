// LiveLogs: the Logs of this process, for those who must reach them without being told: std::exit,
// and the handler of a crash.
//
// Thread     add() and remove() any, under a lock; the rest any, and in a signal handler.
// Allocates  never.
// Fails      add(): nothing, when there are logs_max already.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "katana/observe/log/ring_set.hpp"

namespace katana::log {

// What the process can ask of a Log without knowing it.
class LiveLog {
 public:
  virtual ~LiveLog() = default;
  virtual void flush_at_exit() noexcept = 0;  // std::exit: writes everything, at most for end_max
  // In a signal handler: asks the writer to write what there is, and waits for it, not for ever.
  virtual void flush_in_crash(int signal) noexcept = 0;
};

// Where a Log stands in live_logs().
struct LogPlace {
  std::size_t index;         // below logs_max
  std::uint64_t generation;  // never 0, never twice
};

std::optional<LogPlace> add_live_log(LiveLog& log) noexcept;  // nothing: logs_max are there
void remove_live_log(std::size_t index) noexcept;  // REQUIRES that add_live_log() gave the index
std::array<std::atomic<LiveLog*>, logs_max>& live_logs() noexcept;  // null: the place is free

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
