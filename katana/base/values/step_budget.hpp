// StepBudget: how many steps a computation over input may take, so that no input, however it was
// made, keeps its thread for long. All that one message makes a program compute draws from one.
//
//   StepBudget budget(StepBudget::for_bytes(content.size()));
//   for (…) if (!budget.take(1)) return …;      it is refused, and the limit is named
//
// A step is about what visiting one value of a document costs, some ten nanoseconds; what costs
// more takes more of them.
//
// Owns       a count.
// Thread     one.
// Allocates  never.
// Fails      take() is false when there are not so many left. From then on none are left, so that
//            a computation of many parts ends at the first of them that asks.
// Invariant  what take() has given is never more than steps_max().
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace katana {

class StepBudget {
 public:
  // Of a message, besides those that its bytes bring.
  static constexpr std::uint64_t steps_default = 1'000'000;
  // A client that sends more may have more computed: what is usual takes one or two for each byte.
  static constexpr std::uint64_t steps_per_byte = 4;

  constexpr explicit StepBudget(std::uint64_t steps_max = steps_default) noexcept
      : max_(steps_max), left_(steps_max) {}

  // What a message of so many bytes may take.
  static constexpr std::uint64_t for_bytes(std::size_t bytes,
                                           std::uint64_t steps = steps_default) noexcept {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return bytes > (most - steps) / steps_per_byte ? most : steps + bytes * steps_per_byte;
  }

  // False: there are not so many, and from here on there are none.
  constexpr bool take(std::uint64_t steps) noexcept {
    if (steps <= left_) [[likely]] {
      left_ -= steps;
      return true;
    }
    left_ = 0;
    is_spent_ = true;
    return false;
  }
  // take() was false once.
  constexpr bool is_spent() const noexcept { return is_spent_; }
  constexpr std::uint64_t left() const noexcept { return left_; }
  constexpr std::uint64_t steps_max() const noexcept { return max_; }

 private:
  std::uint64_t max_;
  std::uint64_t left_;
  bool is_spent_ = false;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
