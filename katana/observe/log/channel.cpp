#include "katana/observe/log/channel.hpp"

#include <chrono>
#include <thread>

namespace katana::log {

Ring* Channel::attach_rarely() noexcept {
  if (dozes()) {
    end_doze();
    wake_writer();
  }
  const std::uint64_t generation = generation_.load(std::memory_order_relaxed);
  ThreadSlot& slot = thread_slots[index_];
  if (generation == stopped) return nullptr;
  if (slot.generation == how_.generation) return slot.ring;
  if (!attach(slot, rings_, how_.generation)) return nullptr;
  if (how_.synchronous) slot.ring->always_hurry();
  return slot.ring;
}

char* Channel::reserve_rarely(Ring* ring, std::uint64_t bytes, Level level) noexcept {
  if (generation_.load(std::memory_order_relaxed) == stopped) {
    refused_when_stopped_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (ring == nullptr) {
    dropped_without_ring_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (bytes > ring->capacity() / 4) {
    ring->count_dropped(level);
    return nullptr;
  }
  wake_writer();
  if (how_.when_full == WhenFull::block) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::nanoseconds(how_.block_max.ns);
    constexpr int yields = 16;
    int tries = 0;
    do {
      // The writer needs the CPU more than this thread does. A sleep takes longer than requested:
      // the first tries only yield.
      if (++tries <= yields)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      wake_writer();
      if (!ring->has_capacity()) continue;
      if (char* const space = ring->reserve(bytes, level)) return space;
    } while (Clock::now() < end);
    if (char* const space = ring->reserve(bytes, level)) return space;  // roomy or not
  }
  ring->count_dropped(level);
  return nullptr;
}

void Channel::after_commit(Ring& ring) noexcept {
  if (how_.synchronous) {
    write_now();
  } else {
    ring.take_hurry();
    wake_writer();
  }
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
