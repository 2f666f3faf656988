#include "lab/chat_load/ledger.hpp"

#include <algorithm>
#include <new>

namespace katana::chat_load {

// calloc: untouched pages cost nothing, and there may be many.
Ledger::Ledger(std::uint32_t receivers, std::uint32_t senders)
    : senders_(senders),
      delivered_to_(receivers),
      next_(static_cast<std::uint32_t*>(std::calloc(
          std::max<std::size_t>(1, std::size_t{receivers} * senders), sizeof(std::uint32_t)))) {
  if (next_ == nullptr) throw std::bad_alloc();
}

void Ledger::note_other(std::uint32_t receiver, std::uint32_t sender, std::uint32_t sequence,
                        std::uint32_t& next) {
  const std::uint64_t pair = std::uint64_t{receiver} * senders_ + sender;
  if (sequence > next) {
    gaps_[pair].push_back({next, sequence});
    next = sequence + 1;
    ++delivered_;
    ++delivered_to_[receiver];
    return;
  }
  const auto found = gaps_.find(pair);
  if (found != gaps_.end() && fill_gap(found->second, sequence)) {
    ++delivered_;
    ++delivered_to_[receiver];
    ++out_of_order_;
  } else {
    ++duplicated_;
  }
}

bool Ledger::fill_gap(std::vector<Gap>& gaps, std::uint32_t sequence) {
  const auto gap = std::ranges::upper_bound(gaps, sequence, {}, &Gap::end);
  if (gap == gaps.end() || sequence < gap->begin) return false;
  const Gap whole = *gap;
  *gap = {whole.begin, sequence};
  if (sequence + 1 < whole.end) gaps.insert(gap + 1, {sequence + 1, whole.end});
  std::erase_if(gaps, [](const Gap& each) { return each.begin == each.end; });
  return true;
}

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
