// LiveLogs: the Logs of this process, for code that has no reference to them: std::exit, and the
// handler of a crash.
//
// Thread     add() and remove() any, under a lock; the rest any, and in a signal handler.
// Allocates  never.
// Fails      add(): returns nothing when there are logs_max already.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "katana/observe/log/ring_set.hpp"

namespace katana::log {

// The operations on a Log that the process needs.
class LiveLog {
 public:
  virtual ~LiveLog() = default;
  virtual void flush_at_exit() noexcept = 0;  // std::exit: writes everything, at most for end_max
  // In a signal handler: asks the writer to write all records, and waits for a limited time.
  virtual void flush_in_crash(int signal) noexcept = 0;
};

// The place of a Log in live_logs().
struct LogPlace {
  std::size_t index;         // below logs_max
  std::uint64_t generation;  // never 0, and never used twice
};

std::optional<LogPlace> add_live_log(LiveLog& log) noexcept;  // nothing: logs_max exist
void remove_live_log(std::size_t index) noexcept;  // REQUIRES that add_live_log() gave the index
std::array<std::atomic<LiveLog*>, logs_max>& live_logs() noexcept;  // null: the place is free

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
