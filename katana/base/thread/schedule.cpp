#include "katana/base/thread/schedule.hpp"

#include <algorithm>

namespace katana::thread {
namespace {

// Neither of two entries with the same time is later; the heap then decides.
bool later(const Schedule::Held& one, const Schedule::Held& other) noexcept {
  return other->due < one->due;
}

}  // namespace

void Schedule::add(Held entry) {
  if (entries_.size() >= sweep_at_) sweep();
  entries_.push_back(std::move(entry));
  std::push_heap(entries_.begin(), entries_.end(), later);
}

Schedule::Held Schedule::take_due(Instant now) {
  if (entries_.empty() || now < entries_.front()->due) return nullptr;
  std::pop_heap(entries_.begin(), entries_.end(), later);
  Held first = std::move(entries_.back());
  entries_.pop_back();
  return first;
}

Instant Schedule::next_turn(Instant last, Duration period, Instant now,
                            std::uint64_t& missed) noexcept {
  const std::int64_t past_ns = std::max<std::int64_t>((now - last).ns, 0);
  const std::int64_t skipped = past_ns / period.ns;
  missed += static_cast<std::uint64_t>(skipped);
  return last + period * (skipped + 1);
}

void Schedule::sweep() {
  std::erase_if(entries_, [](const Held& entry) { return entry->cancelled.load(); });
  std::make_heap(entries_.begin(), entries_.end(), later);
  sweep_at_ = std::max(sweep_at_min, 2 * entries_.size());
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
