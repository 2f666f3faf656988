// TimerWheel: timers, in constant time.
//
// Owns       nothing: an entry belongs to the object that embeds it, and leaves the wheel in its
//            destructor.
// Thread     one: its reactor's.
// Allocates  never.
// Invariant  an entry fires at the first advance() whose time is at or after its expiry, never
//            before it.
//
// Near entries are in 1,024 slots of a tick (1/16 ms) each: their expiry differs from the present
// in the lowest 10 bits alone. The others are in seven levels of 64 slots. Their level is the
// highest digit (base 64) in which they differ. They move down when the present reaches their slot.
// Bits mark the used slots: arm() and next() walk no empty ones.
//
// An expiry less than 64 ms away is rounded up to a tick, a later one to a millisecond: distant
// deadlines share their wake-ups.
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
  // The time when it will fire, rounded up as above; meaningless unless armed().
  inline Instant expiry() const noexcept;
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
  // A millisecond is a whole number of ticks.
  static constexpr Duration tick = nanoseconds(62'500);

  explicit TimerWheel(Instant now) noexcept : present_(now.ns / tick.ns), tick_(present_) {}
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Arms `entry`, or moves it, to fire at `expiry`; at the next advance() when that is past.
  void arm(TimerEntry& entry, Instant expiry) noexcept;
  // Fires everything that is due.
  void advance(Instant now) noexcept;
  // The time when advance() has work; never when the wheel is empty. It may be early, never late:
  // after a cancellation, and by a level's span while more than walk_max entries share a slot.
  Instant next() noexcept;

  // For tests and metrics: the number of times that an entry was put into a slot.
  std::uint64_t operations() const noexcept { return operations_; }

 private:
  static constexpr int near_bits = 10, digit_bits = 6, levels = 7, walk_max = 16;
  static constexpr std::int64_t near_slots = 1 << near_bits, slots = 1 << digit_bits;
  static constexpr std::int64_t ticks_per_ms = 1'000'000 / tick.ns;
  static constexpr std::int64_t tick_max = never.ns / tick.ns;

  using Row = std::array<TimerEntry*, slots>;
  struct Place {
    TimerEntry** first;
    std::int64_t tick;  // when the present reaches the slot
  };

  void insert(TimerEntry& entry) noexcept;
  // The slot that the present reaches first. False: all are empty.
  bool first_place(Place& place) noexcept;
  bool first_near(Place& place) noexcept, first_far(Place& place) noexcept;
  std::int64_t first_due(const Place& place) noexcept;
  void empty_slot(TimerEntry*& first) noexcept;

  std::int64_t present_;  // the time of the last advance()
  std::int64_t tick_;     // within advance(): the slot that it empties; else the present
  std::uint64_t operations_ = 0;
  // A bit may stay set when the last entry of a slot is cancelled.
  std::uint64_t near_words_ = 0;  // a bit for each word of near_used_
  std::array<std::uint64_t, near_slots / 64> near_used_{};
  std::array<std::uint64_t, levels> far_used_{};
  std::array<TimerEntry*, near_slots> near_{};
  std::array<Row, levels> far_{};
  TimerEntry* walked_ = nullptr;  // the first of a slot whose first_due() is known
  std::int64_t walked_due_ = 0;
};

inline Instant TimerEntry::expiry() const noexcept { return {tick_ * TimerWheel::tick.ns}; }

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
