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

class Tally {
 public:
  void add(std::uint64_t count = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  // Relaxed: who reads it wants a figure of about now.
  std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
