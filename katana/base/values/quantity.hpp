// Quantity: a decimal number before a unit, as in 1.5s and 16KiB, and the units of time.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      as take() and count() describe.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"

namespace katana {

// One unit of a table of units.
struct Unit {
  Bytes name;          // the text behind the number
  std::uint64_t size;  // size in multiples of the first unit
};
// The units of time, smallest first; sizes in nanoseconds.
inline constexpr std::array<Unit, 7> time_units = {{{"ns", 1},
                                                    {"us", 1'000},
                                                    {"ms", 1'000'000},
                                                    {"s", 1'000'000'000},
                                                    {"m", 60'000'000'000},
                                                    {"h", 3'600'000'000'000},
                                                    {"d", 86'400'000'000'000}}};

// A number without sign: digits, and a fraction as a numerator over a power of ten.
struct Quantity {
  std::uint64_t whole = 0;    // the digits before the point
  std::uint64_t part = 0;     // the digits behind the point: part / part_of
  std::uint64_t part_of = 1;  // a power of ten
  bool valid = false;         // there was a number
  bool large = false;         // the number does not fit into 64 bits

  // Removes the number from the front of `text`, and returns it.
  static Quantity take(Bytes& text) noexcept;
  // Converts the number of units to steps. False: it is no whole number of steps, or above `limit`.
  bool count(std::uint64_t unit, std::uint64_t step, std::uint64_t limit,
             std::uint64_t& result) const noexcept;
};

// The largest unit, of at least a step, in which `count` steps are a whole number.
const Unit& largest_unit(std::uint64_t count, std::uint64_t step,
                         std::span<const Unit> units) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
