#include "katana/stores/database/sqlite/watch.hpp"

#include "katana/base/system/alarm.hpp"

namespace katana::database::sqlite {

Watch::Watch(std::string path, const std::function<Instant()>& clock)
    : path_(std::move(path)), clock_(clock), alarm_(std::make_unique<Alarm>()) {}

Watch::~Watch() = default;

bool Watch::go_on_looking(bool has_looked) noexcept {
  if (!usable() || is_locked()) return true;
  if (!has_looked) return use_.load(std::memory_order_seq_cst) != Use::rests;
  Use found = Use::unused;
  if (use_.compare_exchange_strong(found, Use::rests, std::memory_order_seq_cst)) return false;
  found = Use::used;
  return use_.compare_exchange_strong(found, Use::unused, std::memory_order_seq_cst);
}

void Watch::begin_use() const noexcept {
  if (use_.exchange(Use::used, std::memory_order_seq_cst) == Use::rests) alarm_->set(clock_());
}

void Watch::report_locked(Duration waited) {
  const std::lock_guard lock(mutex_);
  if (is_locked()) return;
  locked_for_ = "another process has held its lock for longer than " +
                std::to_string(waited.count_ms()) + " ms, and nothing is written";
  locked_.store(true, std::memory_order_relaxed);
  alarm_->set(clock_());  // the writes that wait are refused
  begin_outage(locked_for_);
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
