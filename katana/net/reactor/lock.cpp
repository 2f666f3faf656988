#include "katana/net/reactor/lock.hpp"

namespace katana::net {

void Lock::wait() noexcept {
  // Some tens of nanoseconds are held in general; a microsecond is less than a sleep costs.
  for (int round = 0; round < 64; ++round) {
    std::uint32_t expected = is_free;
    if (word_.load(std::memory_order_relaxed) == is_free &&
        word_.compare_exchange_weak(expected, is_held, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return;
    }
    relax();
  }
  // Held as has_sleepers from here on: the thread that gives it back wakes one, needlessly at
  // worst.
  while (word_.exchange(has_sleepers, std::memory_order_acquire) != is_free) {
    futex_wait(word_, has_sleepers);
  }
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
