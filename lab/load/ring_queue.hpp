// RingQueue: first in, first out, of numbers, in memory that is taken once.
//
// Allocates  when made. Fails: never; REQUIRES that it is not full on push and not empty on pop.
#pragma once

#include <cstdint>
#include <vector>

#include "katana/base/system/check.hpp"

namespace katana::load {

class RingQueue {
 public:
  explicit RingQueue(std::size_t capacity) : slots_(capacity) {}
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  void push(std::uint32_t value) {
    KATANA_REQUIRE(size_ < slots_.size());
    std::size_t at = first_ + size_++;
    if (at >= slots_.size()) at -= slots_.size();
    slots_[at] = value;
  }
  std::uint32_t pop() {
    KATANA_REQUIRE(size_ > 0);
    const std::uint32_t value = slots_[first_];
    if (++first_ == slots_.size()) first_ = 0;
    --size_;
    return value;
  }

 private:
  std::vector<std::uint32_t> slots_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
