// SlotTable: the slots of an engine's links. A freed slot is reused before a new one is made. The
// last one freed comes first, because it is still in cache.
//
// Owns       the slots.
// Thread     the engine's.
// Allocates  at construction only: room for all. With Touch::as_taken an unused slot is not written
//            to: only slots that a link has had cost memory.
// Fails      find() is null when the link is gone, or 0; take() REQUIRES a table that is not full.
// Invariant  a slot's generation changes when its link ends: late events find no link.
#pragma once

#include <cstdint>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/net/engine/engine.hpp"

namespace katana::engine {

// When the memory of a slot is first written.
enum class Touch : std::uint8_t { as_taken, at_start };

// A Slot has three members. `int fd` is -1 in a free slot. `uint32_t generation` is 1 at first.
// `uint32_t next_free` may share its place with a member of a taken slot.
template <class Slot>
class SlotTable {
 public:
  explicit SlotTable(std::uint32_t links_max, Touch touch = Touch::as_taken)
      : links_max_(links_max), available_(links_max) {
    slots_.reserve(links_max);
    add_free();  // Link{}, which is no link, then finds this free slot
    if (touch == Touch::as_taken) return;
    slots_.resize(links_max);
    for (std::uint32_t index = 0; index < links_max; ++index) slots_[index].next_free = index + 1;
    slots_.back().next_free = none;
  }

  // Null: that link is gone, or 0.
  Slot* find(Link link) noexcept {
    Slot& slot = slots_[link.index];
    return slot.generation == link.generation && slot.fd >= 0 ? &slot : nullptr;
  }
  // REQUIRES a link of this table, open or not.
  Slot& operator[](Link link) noexcept { return slots_[link.index]; }

  // The most links that can exist.
  std::uint32_t links_max() const noexcept { return links_max_; }
  // The number of links that can still be taken.
  std::uint32_t available() const noexcept { return available_; }
  // No link can be taken until one is given back.
  bool is_full() const noexcept { return available_ == 0; }

  // Takes a free slot for a link of that socket. REQUIRES that the table is not full.
  Link take(int fd) noexcept {
    if (first_free_ == none) add_free();
    const std::uint32_t index = first_free_;
    Slot& slot = slots_[index];
    first_free_ = slot.next_free;
    --available_;
    slot.fd = fd;
    return {index, slot.generation};
  }
  // Frees the slot. Its socket is closed, or belongs to another owner.
  void give(Link link, Slot& slot) noexcept {
    const std::uint32_t generation = slot.generation + 1;
    slot = Slot{};
    slot.generation = generation == 0 ? 1 : generation;
    slot.next_free = first_free_;
    first_free_ = link.index;
    ++available_;
  }

  // All slots that have been taken at least once.
  auto begin() noexcept { return slots_.begin(); }
  auto end() noexcept { return slots_.end(); }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  void add_free() noexcept {
    KATANA_REQUIRE(slots_.size() < links_max_);
    first_free_ = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back().next_free = none;
  }

  std::vector<Slot> slots_;
  std::uint32_t first_free_ = none;
  std::uint32_t links_max_;
  std::uint32_t available_;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
