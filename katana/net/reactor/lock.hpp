// Lock: a mutex of four bytes, whose uncontended path is inlined. A shard's lock, its array of
// buckets and its count of hits therefore fit one cache line. That line moves between processors
// with each hit of another thread.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never.
// Invariant  as std::mutex, whose names it shares. A waiter spins for a moment, then sleeps in the
//            kernel.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/system/adaptive_spin.hpp"
#include "katana/base/system/futex.hpp"
#include "katana/base/system/hints.hpp"

namespace katana::net {

class Lock {
 public:
  Lock() noexcept = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // The calling thread spins for a moment and then sleeps in the kernel. The lock is not recursive.
  void lock() noexcept {
    std::uint32_t expected = is_free;
    // acquire: sees all writes of the last holder; release, below: for the next holder.
    if (!word_.compare_exchange_weak(expected, is_held, std::memory_order_acquire,
                                     std::memory_order_relaxed)) [[unlikely]] {
      wait();
    }
  }
  // Only the holder calls this; the lock wakes at most one sleeping thread.
  void unlock() noexcept {
    if (word_.exchange(is_free, std::memory_order_release) == has_sleepers) [[unlikely]] {
      futex_wake(&word_, 1);
    }
  }

 private:
  static constexpr std::uint32_t is_free = 0;
  static constexpr std::uint32_t is_held = 1;
  static constexpr std::uint32_t has_sleepers = 2;

  KATANA_RARE void wait() noexcept;

  FutexWord word_ = is_free;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
