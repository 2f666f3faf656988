#include "katana/net/reactor/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace katana::net {

void TimerWheel::arm(TimerEntry& entry, Instant expiry) noexcept {
  static_assert(ticks_per_ms * tick.ns == 1'000'000 && (ticks_per_ms & (ticks_per_ms - 1)) == 0);
  static_assert(near_slots == slots * ticks_per_ms);
  static_assert(tick_max >> (near_bits + digit_bits * levels) == 0);
  entry.cancel();
  // An expiry in the past is due in the tick after the present one, in the next advance().
  std::int64_t due = expiry.ns / tick.ns + (expiry.ns % tick.ns != 0 ? 1 : 0);
  due = std::max(due, present_ + 1);
  if (due - present_ > near_slots) due = (due + ticks_per_ms - 1) & -ticks_per_ms;
  entry.tick_ = std::min(due, tick_max);
  insert(entry);
}

void TimerWheel::insert(TimerEntry& entry) noexcept {
  ++operations_;
  const std::int64_t digits = entry.tick_ >> near_bits;
  const auto difference = static_cast<std::uint64_t>(digits ^ tick_ >> near_bits);
  TimerEntry** first;
  if (difference == 0) {
    const auto slot = static_cast<std::size_t>(entry.tick_ & (near_slots - 1));
    first = &near_[slot];
    near_used_[slot / 64] |= std::uint64_t{1} << slot % 64;
    near_words_ |= std::uint64_t{1} << slot / 64;
  } else {
    const int level = (63 - std::countl_zero(difference)) / digit_bits;
    const auto slot = static_cast<std::size_t>(digits >> (digit_bits * level) & (slots - 1));
    const auto row = static_cast<std::size_t>(level);
    first = &far_[row][slot];
    far_used_[row] |= std::uint64_t{1} << slot;
    walked_ = nullptr;
  }
  entry.next_ = *first;
  entry.link_ = first;
  if (*first != nullptr) (*first)->link_ = &entry.next_;
  *first = &entry;
}

// All near entries are in the present row of near slots, and later than the present.
bool TimerWheel::first_near(Place& place) noexcept {
  while (near_words_ != 0) {
    const auto word = static_cast<std::size_t>(std::countr_zero(near_words_));
    while (near_used_[word] != 0) {
      const std::size_t slot =
          word * 64 + static_cast<unsigned>(std::countr_zero(near_used_[word]));
      if (near_[slot] != nullptr) {
        place = {&near_[slot], (tick_ & -near_slots) + static_cast<std::int64_t>(slot)};
        return true;
      }
      near_used_[word] &= near_used_[word] - 1;
    }
    near_words_ &= near_words_ - 1;
  }
  return false;
}

// A lower level lies wholly within the present slot of the level above it: the lowest level in use
// is first.
bool TimerWheel::first_far(Place& place) noexcept {
  for (std::size_t row = 0; row < levels; ++row) {
    const int shift = near_bits + digit_bits * static_cast<int>(row);
    while (far_used_[row] != 0) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(far_used_[row]));
      if (far_[row][slot] != nullptr) {
        const std::int64_t above = tick_ >> shift & -slots;
        place = {&far_[row][slot], (above + static_cast<std::int64_t>(slot)) << shift};
        return true;
      }
      far_used_[row] &= far_used_[row] - 1;
    }
  }
  return false;
}

bool TimerWheel::first_place(Place& place) noexcept {
  return first_near(place) || first_far(place);
}

// When the first entry of a far slot is due. Its lower levels are empty, so nothing is due before:
// a reactor does not wake only to move entries down. The walk is short, and not repeated while the
// slot stays as it is. A cancellation within it only makes the result early.
std::int64_t TimerWheel::first_due(const Place& place) noexcept {
  TimerEntry* const head = *place.first;
  if (head == walked_) return walked_due_;
  std::int64_t due = tick_max;
  int count = 0;
  for (const TimerEntry* entry = head; entry != nullptr; entry = entry->next_) {
    if (++count > walk_max) return place.tick;
    due = std::min(due, entry->tick_);
  }
  walked_ = head;
  walked_due_ = due;
  return due;
}

// The first place is never behind the present. On each level, the slot of the present was emptied
// when it was reached. No entry is put there since.
Instant TimerWheel::next() noexcept {
  Place place;
  if (first_near(place)) return {place.tick * tick.ns};
  return first_far(place) ? Instant{first_due(place) * tick.ns} : never;
}

void TimerWheel::empty_slot(TimerEntry*& first) noexcept {
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
  present_ = std::max(present_, now.ns / tick.ns);
  Place place;
  while (first_place(place) && place.tick <= present_) {
    tick_ = place.tick;
    empty_slot(*place.first);
  }
  tick_ = present_;
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
