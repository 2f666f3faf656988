#include "katana/stores/cache/ghosts.hpp"

#include <algorithm>
#include <bit>

#include "katana/stores/cache/heap_bytes.hpp"

namespace katana::cache::detail {

std::size_t Ghosts::slots_for(std::size_t capacity) noexcept {
  // A quarter more than needed, because sets do not fill alike.
  return std::bit_ceil(std::max(capacity + capacity / 4, ways));
}

std::size_t Ghosts::bytes_for(std::size_t capacity) noexcept {
  return capacity == 0 ? 0 : allocation_bytes(slots_for(capacity) * sizeof(Ghost));
}

Ghosts::Ghosts(std::size_t capacity) : capacity_(capacity) {
  if (capacity != 0) slots_.resize(slots_for(capacity));
}

void Ghosts::add(std::uint64_t hash) noexcept {
  if (capacity_ == 0) return;
  ++time_;
  Ghost* const set = set_of(hash);
  Ghost* oldest = set;
  for (Ghost* ghost = set; ghost != set + ways; ++ghost) {
    if (ghost->mark == mark_of(hash) || !lives(*ghost)) {
      oldest = ghost;
      break;
    }
    if (time_ - ghost->time > time_ - oldest->time) oldest = ghost;
  }
  *oldest = {.mark = mark_of(hash), .time = time_};
}

bool Ghosts::take(std::uint64_t hash) noexcept {
  if (capacity_ == 0) return false;
  Ghost* const set = set_of(hash);
  for (Ghost* ghost = set; ghost != set + ways; ++ghost) {
    if (ghost->mark != mark_of(hash)) continue;
    const bool lived = lives(*ghost);
    ghost->mark = 0;
    return lived;
  }
  return false;
}

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
