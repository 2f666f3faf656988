// Units: durations and amounts of memory as people write them: 30s, 1500ms, 16KiB, 10MB.
//
//   duration      number and one of ns, us, ms, s, m, h, d; only 0 needs no unit
//   byte count    number and one of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers
//                 of 1024); a number without a unit is bytes
//
// A number may have a fraction (1.5s), if the result is a whole number of nanoseconds or bytes. It
// has no sign. A space may stand before the unit.
//
// Owns       nothing.
// Thread     any.
// Allocates  the written text, and messages.
// Fails      read_… returns an Error. Its message follows the word "expected", and names the
//            expected form, the text that was read, and the remedy.
// Invariant  read_… reads the output of write_… as the same value.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::config {

// A number of bytes with the text form of this header. A member of this type needs no `byte_count`.
struct ByteCount {
  std::uint64_t bytes = 0;  // the number
  auto operator<=>(const ByteCount&) const = default;
};
// Binary units: count × 1024, 1024² and 1024³ bytes.
constexpr ByteCount kibibytes(std::uint64_t count) { return {count << 10}; }
constexpr ByteCount mebibytes(std::uint64_t count) { return {count << 20}; }
constexpr ByteCount gibibytes(std::uint64_t count) { return {count << 30}; }

Result<Duration> read_duration(Bytes text);     // "1.5s"; an Error says what is allowed
Result<ByteCount> read_byte_count(Bytes text);  // "64KiB" or "65536"; an Error says what is allowed
// Write a value in the largest unit that gives a whole number.
std::string write_duration(Duration duration);
std::string write_byte_count(ByteCount count);

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
