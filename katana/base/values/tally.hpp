// Tally: a number that one thread at a time writes, and any thread reads.
//
// Owns       the number.
// Thread     one at a time calls add() and set(); any calls read().
// Allocates  never.
// Fails      never.
// Invariant  adding costs no locked instruction, and orders nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace katana {

// A number that begins at 0.
class Tally {
 public:
  // Adds to the number. Only the writing thread may call it.
  void add(std::uint64_t count = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  // Sets the number, which may also go down. Only the writing thread may call it.
  void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  // A recent value of the number. Any thread may call it.
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  // Relaxed: a reader needs only a recent value.
  std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
