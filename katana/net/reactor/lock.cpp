#include "katana/net/reactor/lock.hpp"

namespace katana::net {

void Lock::wait() noexcept {
  // A lock is mostly held for some tens of nanoseconds; a microsecond is less than a sleep costs.
  for (int round = 0; round < 64; ++round) {
    std::uint32_t expected = is_free;
    if (word_.load(std::memory_order_relaxed) == is_free &&
        word_.compare_exchange_weak(expected, is_held, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return;
    }
    relax();
  }
  // Marked has_sleepers from here on: the holder wakes one sleeper, in the worst case needlessly.
  while (word_.exchange(has_sleepers, std::memory_order_acquire) != is_free) {
    futex_wait(word_, has_sleepers);
  }
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
