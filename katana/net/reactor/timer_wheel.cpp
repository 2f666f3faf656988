#include "katana/net/reactor/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace katana::net {

void TimerWheel::arm(TimerEntry& entry, Instant expiry) noexcept {
  entry.cancel();
  // Rounded up to a tick; an expiry in the past is due in the tick after the present one, which
  // advance() reaches.
  entry.tick_ = expiry.ns / 1'000'000 + (expiry.ns % 1'000'000 != 0 ? 1 : 0);
  entry.tick_ = std::clamp(entry.tick_, tick_ + 1, tick_max);
  insert(entry);
}

void TimerWheel::insert(TimerEntry& entry) noexcept {
  ++operations_;
  const auto difference = static_cast<std::uint64_t>(entry.tick_ ^ tick_) | (slots - 1);
  const int level = (63 - std::countl_zero(difference)) / digit_bits;
  const auto slot = static_cast<std::size_t>(entry.tick_ >> (digit_bits * level) & (slots - 1));
  const auto row = static_cast<std::size_t>(level);
  TimerEntry*& first = slots_[row][slot];
  entry.next_ = first;
  entry.link_ = &first;
  if (first != nullptr) first->link_ = &entry.next_;
  first = &entry;
  used_[row] |= std::uint64_t{1} << slot;
}

bool TimerWheel::first_place(Place& place) const noexcept {
  // A lower level lies wholly within the present slot of the level above it: the lowest level in
  // use is first.
  for (int level = 0; level < levels; ++level) {
    const auto row = static_cast<std::size_t>(level);
    const int shift = digit_bits * level;
    while (used_[row] != 0) {
      const auto present = static_cast<int>(tick_ >> shift & (slots - 1));
      const int ahead = std::countr_zero(std::rotr(used_[row], present));
      const int slot = (present + ahead) & (slots - 1);
      if (slots_[row][static_cast<std::size_t>(slot)] == nullptr) {
        used_[row] &= ~(std::uint64_t{1} << slot);
        continue;
      }
      place = {level, slot, ((tick_ >> shift) + ahead) << shift};
      return true;
    }
  }
  return false;
}

// The first place is never behind the present. On each level above the lowest, the slot of the
// present was emptied when it was reached. No entry is put there since.
Instant TimerWheel::next() const noexcept {
  Place place;
  return first_place(place) ? Instant{place.tick * 1'000'000} : never;
}

void TimerWheel::empty_slot(const Place& place) noexcept {
  TimerEntry*& first =
      slots_[static_cast<std::size_t>(place.level)][static_cast<std::size_t>(place.slot)];
  while (TimerEntry* const entry = first) {
    entry->cancel();
    if (entry->tick_ <= tick_) {
      entry->fire_(*entry);
    } else {
      insert(*entry);
    }
  }
}

void TimerWheel::advance(Instant now) noexcept {
  const std::int64_t target = now.ns / 1'000'000;
  Place place;
  while (first_place(place) && place.tick <= target) {
    tick_ = place.tick;
    empty_slot(place);
  }
  tick_ = std::max(tick_, target);
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
