// StepBudget: limits the steps of a computation over input. No input can then keep its thread for
// long. All computations for one message share one budget.
//
//   StepBudget budget(StepBudget::for_bytes(content.size()));
//   for (…) if (!budget.take(1)) return …;      refuse the message, and name the limit
//
// A step costs about as much as a visit of one value of a document, some ten nanoseconds. Expensive
// operations take several steps.
//
// Owns       a count.
// Thread     one.
// Allocates  never.
// Fails      take() is false when too few steps are left. From then on no steps are left. A
//            computation of many parts then ends at the next part that calls take().
// Invariant  the sum of the steps of successful take() calls never exceeds steps_max().
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace katana {

class StepBudget {
 public:
  // The fixed steps of a message, in addition to those for its bytes.
  static constexpr std::uint64_t steps_default = 1'000'000;
  // The additional steps for each byte of a message. Ordinary input takes one or two for each byte.
  static constexpr std::uint64_t steps_per_byte = 4;

  constexpr explicit StepBudget(std::uint64_t steps_max = steps_default) noexcept
      : max_(steps_max), left_(steps_max) {}

  // The number of steps for a message of `bytes` bytes.
  static constexpr std::uint64_t for_bytes(std::size_t bytes,
                                           std::uint64_t steps = steps_default) noexcept {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return bytes > (most - steps) / steps_per_byte ? most : steps + bytes * steps_per_byte;
  }

  // Takes `steps` steps. False: too few are left, and from now on there are none.
  constexpr bool take(std::uint64_t steps) noexcept {
    if (steps <= left_) [[likely]] {
      left_ -= steps;
      return true;
    }
    left_ = 0;
    is_spent_ = true;
    return false;
  }
  // True if take() has returned false.
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
