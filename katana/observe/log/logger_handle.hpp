// LoggerHandle: a Logger as options keep it. A header with a handle does not need the code that
// makes records; code that writes records converts it to a Logger.
//
// Borrows    the Log that made it.
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include <atomic>

#include "katana/base/text/bytes.hpp"
#include "katana/observe/log/level.hpp"

namespace katana::log {

class Channel;

// One for each name; a Log keeps its address for its whole life.
struct LoggerState {
  std::atomic<Level> level{Level::off};  // off for a logger that discards
  Channel* channel = nullptr;            // null: the logger discards
  Bytes name;                            // kept by the Log
};

namespace detail {
inline constinit LoggerState discarding{};
}  // namespace detail

class LoggerHandle {
 public:
  LoggerHandle() noexcept : state_(&detail::discarding) {}
  explicit LoggerHandle(LoggerState& state) noexcept : state_(&state) {}

 protected:
  LoggerState* state_;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
