// Tally: a number that one thread writes at a time, and any reads.
//
// Owns       the number.
// Thread     one adds and sets at a time; any reads.
// Allocates  never.
// Fails      never.
// Invariant  adding costs no locked instruction, and orders nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace katana {

// Begins at nought.
class Tally {
 public:
  // By the thread that writes.
  void add(std::uint64_t count = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  // Likewise, for what goes down as well.
  void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  // By any thread: the number of about now.
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  // Relaxed: who reads it wants a figure of about now.
  std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
