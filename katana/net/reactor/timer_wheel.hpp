// TimerWheel: timers, in constant time.
//
// Owns       nothing: an entry belongs to the object that embeds it, and leaves the wheel in its
//            destructor.
// Thread     one: its reactor's.
// Allocates  never.
// Invariant  an entry fires at the first advance() whose time is at or after its expiry, never
//            before it.
//
// Eight levels of 64 slots; a slot of level n spans 64^n milliseconds. The level of an entry is the
// highest digit (base 64) in which its expiry differs from the present. It moves down when the
// present reaches its slot. One word per level marks the used slots: neither arm() nor next() walks
// empty slots.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana::net {

class TimerWheel;

// A timer. It is part of a larger object, which it calls at its time.
class TimerEntry {
 public:
  // `fire` is called on the wheel's thread with the entry out of the wheel; it may add or destroy
  // the entry.
  explicit TimerEntry(void (*fire)(TimerEntry&) noexcept) noexcept : fire_(fire) {}
  ~TimerEntry() { cancel(); }
  TimerEntry(const TimerEntry&) = delete;
  TimerEntry& operator=(const TimerEntry&) = delete;

  bool armed() const noexcept { return link_ != nullptr; }  // whether it is in a wheel
  // The time when it will fire, rounded up to a millisecond; meaningless unless armed().
  Instant expiry() const noexcept { return {tick_ * 1'000'000}; }
  void cancel() noexcept {
    if (link_ == nullptr) return;
    *link_ = next_;
    if (next_ != nullptr) next_->link_ = link_;
    link_ = nullptr;
  }

 private:
  friend class TimerWheel;
  void (*fire_)(TimerEntry&) noexcept;
  TimerEntry* next_ = nullptr;
  TimerEntry** link_ = nullptr;  // pointer to this entry; null: in no slot
  std::int64_t tick_ = 0;
};

class TimerWheel {
 public:
  explicit TimerWheel(Instant now) noexcept : tick_(now.ns / 1'000'000) {}
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Arms `entry`, or moves it, to fire at `expiry`; at the next advance() when that is past.
  void arm(TimerEntry& entry, Instant expiry) noexcept;
  // Fires everything that is due.
  void advance(Instant now) noexcept;
  // The time when advance() has work; never when the wheel is empty. May be early by a level's
  // span, never late.
  Instant next() const noexcept;

  // For tests and metrics: the number of times that an entry was put into a slot.
  std::uint64_t operations() const noexcept { return operations_; }

 private:
  static constexpr int levels = 8;
  static constexpr int digit_bits = 6;
  static constexpr std::int64_t slots = 1 << digit_bits;
  static constexpr std::int64_t tick_max =
      (std::int64_t{1} << (digit_bits * levels - 1)) - 1;  // 4,400 years

  struct Place {
    int level;
    int slot;
    std::int64_t tick;  // when the present reaches the slot
  };

  void insert(TimerEntry& entry) noexcept;
  // The slot that the present reaches first. False: all are empty.
  bool first_place(Place& place) const noexcept;
  void empty_slot(const Place& place) noexcept;

  std::int64_t tick_;
  std::uint64_t operations_ = 0;
  mutable std::array<std::uint64_t, levels>
      used_{};  // a bit may stay set when the last entry of a slot is cancelled
  std::array<std::array<TimerEntry*, slots>, levels> slots_{};
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
