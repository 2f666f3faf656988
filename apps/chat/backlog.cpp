#include "apps/chat/backlog.hpp"

#include "katana/base/system/check.hpp"

namespace katana::chat {

void Backlog::push(Batch& batch, std::uint32_t begin, std::uint32_t size, std::uint32_t messages) {
  if (first_ > 16 && first_ > entries_.size() / 2) {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  const auto block = static_cast<std::uint32_t>(batch.allocated_bytes());
  if (!empty() && entries_.back().batch == &batch) {
    entries_.back().charged -= block;
    charged_ -= block;
  }
  const auto charged = static_cast<std::uint32_t>(block + sizeof(Entry));
  entries_.push_back({&batch, begin, size, messages, charged});
  charged_ += charged;
  batch.retain();
}

void Backlog::pop() noexcept {
  KATANA_CHECK(!empty());
  const Entry& oldest = entries_[first_++];
  charged_ -= oldest.charged;
  oldest.batch->let_go();
  if (!empty()) return;
  std::vector<Entry>().swap(entries_);
  first_ = 0;
}

std::uint64_t Backlog::drop_oldest() noexcept {
  const Batch* const oldest = front().batch;
  std::uint64_t messages = 0;
  while (!empty() && front().batch == oldest) {
    messages += front().messages;
    pop();
  }
  return messages;
}

std::uint64_t Backlog::clear() noexcept {
  std::uint64_t messages = 0;
  while (!empty()) messages += drop_oldest();
  return messages;
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
