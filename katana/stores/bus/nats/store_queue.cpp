#include "katana/stores/bus/nats/store_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace katana::bus {

Result<void> StoreQueue::add(const HeldMessage& message) {
  const std::size_t bytes = message.allocated_bytes();
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= bounds_.messages_max || bytes_ + bytes > bounds_.bytes_max) {
    return fail(Code::resource_exhausted,
                fmt::format("'{}' is not kept for its stream: {} messages of {} bytes wait until "
                            "they are stored",
                            message.subject(), entries_.size(), bytes_));
  }
  entries_.push_back({.message = Posted(message.batch()), .bytes = bytes});
  bytes_ += bytes;
  return {};
}

std::size_t StoreQueue::size() const noexcept {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::size_t StoreQueue::bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

StoreQueue::Entry* StoreQueue::find(std::uint64_t number) noexcept {
  if (number < first_ || number - first_ >= entries_.size()) return nullptr;
  return &entries_[number - first_];
}

std::optional<StoreQueue::Item> StoreQueue::next(Instant now) {
  const std::lock_guard lock(mutex_);
  if (now < paused_until_) return std::nullopt;
  Entry* entry = find(next_);
  while (entry != nullptr && entry->is_stored) entry = find(++next_);
  if (entry == nullptr || next_ - first_ >= window_) return std::nullopt;
  return Item{.number = next_, .message = entry->message};
}

void StoreQueue::note_sent(std::uint64_t number, Instant now) {
  const std::lock_guard lock(mutex_);
  if (Entry* const entry = find(number)) entry->sent_at = now;
  next_ = number + 1;
}

void StoreQueue::acknowledge(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(number);
  if (entry == nullptr) return;
  entry->is_stored = true;
  window_ = std::min(window_ * 2, window_max);
  pause_ = {};
  refused_since_ = never;
  while (!entries_.empty() && entries_.front().is_stored) {
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
    ++first_;
  }
  next_ = std::max(next_, first_);
}

void StoreQueue::go_back() {
  next_ = first_;
  window_ = 1;
}

void StoreQueue::refuse(std::uint64_t number, Instant now) {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = find(number);
  // The first refusal counts for all messages that were under way.
  if (entry == nullptr || entry->is_stored || number >= next_) return;
  pause_ = std::clamp(pause_ * 2, pause_min, pause_max);
  paused_until_ = now + pause_;
  if (refused_since_ == never) refused_since_ = now;
  go_back();
}

void StoreQueue::lose_link() {
  const std::lock_guard lock(mutex_);
  paused_until_ = {};
  go_back();
}

bool StoreQueue::expire(Instant now) {
  std::uint64_t late = 0;
  {
    const std::lock_guard lock(mutex_);
    if (next_ == first_ || now - entries_.front().sent_at < answer_timeout) return false;
    late = first_;
  }
  refuse(late, now);
  return true;
}

Instant StoreQueue::due() const {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return never;
  if (next_ == first_) return paused_until_;
  return entries_.front().sent_at + answer_timeout;
}

Instant StoreQueue::refused_since() const {
  const std::lock_guard lock(mutex_);
  return refused_since_;
}

std::string StoreQueue::first_subject() const {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return {};
  return std::string(entries_.front().message.envelope().subject());
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
