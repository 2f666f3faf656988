#include "katana/http/server/slowest_requests.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::server {
namespace {

bool is_slower(const SlowestRequests::Entry& one, const SlowestRequests::Entry& other) noexcept {
  return one.duration > other.duration;
}

std::string text_of(Bytes text) { return std::string(text); }

SlowestRequests::Entry entry_of(const session::ExchangeRecord& record) {
  const auto now = current_time().time_since_epoch();
  SlowestRequests::Entry entry{
      .method = text_of(record.method),
      .route = record.route != nullptr ? text_of(record.route->pattern) : std::string(),
      .status = record.status,
      .duration = record.duration,
      .at_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
  if (current_activity != nullptr) {
    entry.request_id = text_of(current_activity->name);
    entry.trace_id = text_of(current_activity->trace);
  }
  return entry;
}

}  // namespace

void SlowestRequests::keep(const session::ExchangeRecord& record) noexcept {
  if (record.kind != session::ExchangeKind::request) return;
  // A profile takes as long as it was told to.
  if (record.route != nullptr && Bytes(record.route->pattern).starts_with("/operations/")) return;
  try {
    Entry entry = entry_of(record);
    const std::lock_guard lock(mutex_);
    std::vector<Entry>& window = windows_.back();
    if (window.size() == kept_max) {
      if (!is_slower(entry, window.front())) return;
      std::ranges::pop_heap(window, is_slower);
      window.pop_back();
    }
    window.push_back(std::move(entry));
    std::ranges::push_heap(window, is_slower);
    if (window.size() == kept_max) {
      floor_ns_.store(window.front().duration.ns, std::memory_order_relaxed);
    }
  } catch (const std::exception&) {
    // There is no memory: the request has its record in the log.
  }
}

void SlowestRequests::next_window() {
  const std::lock_guard lock(mutex_);
  windows_.emplace_back();
  if (windows_.size() > windows_max) windows_.pop_front();
  floor_ns_.store(least.ns, std::memory_order_relaxed);
}

std::vector<SlowestRequests::Entry> SlowestRequests::entries() const {
  std::vector<Entry> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& each : windows_) all.insert(all.end(), each.begin(), each.end());
  }
  std::ranges::sort(all, is_slower);
  if (all.size() > kept_max) all.resize(kept_max);
  return all;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
