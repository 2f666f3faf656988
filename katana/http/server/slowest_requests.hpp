// SlowestRequests: the slowest requests of the last quarter of an hour, with their ids.
//
// Owns       at most windows_max lists of kept_max entries.
// Thread     any.
// Allocates  for a request that is kept.
// Fails      never: without memory a request is not kept.
// Invariant  an ordinary request costs one comparison: only those slower than `least`, and slower
//            than those of the present window, take the lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/http/session/exchange_observer.hpp"

namespace katana::server {

class SlowestRequests {
 public:
  static constexpr std::size_t kept_max = 20;     // of a window, and of all
  static constexpr std::size_t windows_max = 15;  // next_window() drops the oldest beyond
  static constexpr Duration least = milliseconds(1);

  // A request that has ended.
  struct Entry {
    std::string method = {};      // as the client sent it
    std::string route = {};       // its pattern; empty: none matched
    unsigned status = 0;          // of the reply; 0: none was begun
    Duration duration = {};       // from the end of its head to its end
    std::int64_t at_ms = 0;       // its end, since 1970
    std::string request_id = {};  // of its log records; empty: it has none
    std::string trace_id = {};    // empty: it has no trace
  };

  SlowestRequests() : windows_(1) {}

  // The request is of the calling thread's activity.
  void on_end(const session::ExchangeRecord& record) noexcept {
    if (record.duration.ns > floor_ns_.load(std::memory_order_relaxed)) [[unlikely]]
      keep(record);
  }
  // Begins a window, which keeps slower and faster requests than those before.
  void next_window();
  // Those of all windows, the slowest first.
  std::vector<Entry> entries() const;

 private:
  [[gnu::cold]] void keep(const session::ExchangeRecord& record) noexcept;

  std::atomic<std::int64_t> floor_ns_ = least.ns;
  mutable std::mutex mutex_;                // of the windows
  std::deque<std::vector<Entry>> windows_;  // the present one last; each is a heap, fastest first
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
