// Ledger: which messages each receiver has had, exactly.
//
// For each receiver and sender it keeps the next number that is expected, and, only where some were
// skipped, which.
//
// Owns       four bytes for each pair of receiver and sender, touched as they are used.
// Thread     one.
// Allocates  when made, and for gaps.
// Fails      std::bad_alloc.
// Invariant  delivered is the number of different messages; each pair's gaps are disjoint and
//            ascend.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

namespace katana::chat_load {

class Ledger {
 public:
  Ledger(std::uint32_t receivers, std::uint32_t senders);

  // Different messages of one receiver.
  std::uint64_t delivered_to(std::uint32_t receiver) const noexcept {
    return delivered_to_[receiver];
  }
  // The receiver has had none of the sender's messages from this one on.
  std::uint32_t next_of(std::uint32_t receiver, std::uint32_t sender) const noexcept {
    return next_[std::size_t{receiver} * senders_ + sender];
  }

  void note(std::uint32_t receiver, std::uint32_t sender, std::uint32_t sequence) {
    std::uint32_t& next = next_[std::size_t{receiver} * senders_ + sender];
    if (sequence == next) [[likely]] {
      ++next;
      ++delivered_;
      ++delivered_to_[receiver];
      return;
    }
    note_other(receiver, sender, sequence, next);
  }

  std::uint64_t delivered() const noexcept { return delivered_; }
  std::uint64_t duplicated() const noexcept { return duplicated_; }
  // Came behind a later message of the same sender.
  std::uint64_t out_of_order() const noexcept { return out_of_order_; }

 private:
  struct Gap {
    std::uint32_t begin;
    std::uint32_t end;
  };
  struct Free {
    void operator()(std::uint32_t* numbers) const noexcept { std::free(numbers); }
  };

  void note_other(std::uint32_t receiver, std::uint32_t sender, std::uint32_t sequence,
                  std::uint32_t& next);
  bool fill_gap(std::vector<Gap>& gaps, std::uint32_t sequence);

  std::uint32_t senders_;
  std::vector<std::uint64_t> delivered_to_;
  std::unique_ptr<std::uint32_t[], Free> next_;
  std::unordered_map<std::uint64_t, std::vector<Gap>> gaps_;  // by pair
  std::uint64_t delivered_ = 0;
  std::uint64_t duplicated_ = 0;
  std::uint64_t out_of_order_ = 0;
};

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
