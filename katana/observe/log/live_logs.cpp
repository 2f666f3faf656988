#include "katana/observe/log/live_logs.hpp"

#include <cstdlib>
#include <mutex>

namespace katana::log {

namespace {

constinit std::array<std::atomic<LiveLog*>, logs_max> all{};
constinit std::mutex places;
constinit std::uint64_t generations = 0;

void flush_all_at_exit() {
  for (std::atomic<LiveLog*>& place : all) {
    if (LiveLog* const log = place.load(std::memory_order_acquire)) log->flush_at_exit();
  }
}

}  // namespace

std::array<std::atomic<LiveLog*>, logs_max>& live_logs() noexcept { return all; }

std::optional<LogPlace> add_live_log(LiveLog& log) noexcept {
  // Fails only when the process has registered more functions than there is memory for.
  [[maybe_unused]] static const int registered = std::atexit(flush_all_at_exit);
  const std::scoped_lock lock(places);
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (all[index].load(std::memory_order_relaxed) != nullptr) continue;
    all[index].store(&log, std::memory_order_release);
    return LogPlace{index, ++generations};
  }
  return std::nullopt;
}

void remove_live_log(std::size_t index) noexcept {
  const std::scoped_lock lock(places);
  all[index].store(nullptr, std::memory_order_release);
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
