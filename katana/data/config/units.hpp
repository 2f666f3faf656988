// Units: durations and amounts of memory as people write them: 30s, 1500ms, 16KiB, 10MB.
//
//   duration      number and one of ns, us, ms, s, m, h, d; only 0 may stand alone
//   byte count    number and one of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers
//                 of 1024); a number alone is bytes
// A number may have a fraction (1.5s), if the result is a whole number of nanoseconds or bytes. It
// has no sign. A space may stand before the unit.
//
// Owns       nothing.
// Thread     any.
// Allocates  the text that it writes, and messages.
// Fails      reading gives an Error whose message goes on after "expected": what was expected, what
//            came instead, and the remedy. The text is repeated in it.
// Invariant  what write_… gives, read_… reads as the same value.
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
// In the largest unit that says it in whole numbers.
std::string write_duration(Duration duration);
std::string write_byte_count(ByteCount count);

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
