// Range requests for bytes (RFC 9110 §14): the ranges that a Range field asks for.
//
// Owns      nothing but the ranges themselves.
// Borrows   the value for the call.
// Thread    any; there is no state.
// Allocates never.
// Fails     never: a field that is malformed, of another unit, or asks for too much is ignored,
//           which §14.2 allows. The whole is then sent.
// Invariant every range lies inside of the representation and has at least one byte. All ranges
//           together are no longer than the representation: no answer is longer than the whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"

namespace katana::http {

// More ranges than this in one field, and the whole is sent instead.
inline constexpr std::size_t ranges_max = 16;

// Bytes of a representation.
struct ByteRange {
  std::uint64_t first = 0;  // offset, from 0
  std::uint64_t size = 0;
  std::uint64_t last() const noexcept { return first + size - 1; }  // offset of the last byte
  bool operator==(const ByteRange&) const = default;
};

//   none           the whole is to be sent
//   satisfiable    the ranges are to be sent, in the order in which they were asked for
//   unsatisfiable  416: the representation has none of the bytes
enum class RangeKind : std::uint8_t { none, satisfiable, unsatisfiable };

// The header Range, judged for a representation of a known size.
class Ranges {
 public:
  // Judges the `value` of a Range field for a representation of `size` bytes.
  static Ranges parse(Bytes value, std::uint64_t size) noexcept;

  RangeKind kind() const noexcept { return kind_; }  // decides the status: 200, 206 or 416
  // Empty unless satisfiable.
  std::span<const ByteRange> all() const noexcept { return {ranges_.data(), count_}; }

 private:
  enum class Taken : std::uint8_t { range, nothing, malformed };
  Taken take(Bytes spec, std::uint64_t size) noexcept;
  void add(std::uint64_t first, std::uint64_t size) noexcept { ranges_[count_++] = {first, size}; }

  std::array<ByteRange, ranges_max> ranges_;
  std::size_t count_ = 0;
  RangeKind kind_ = RangeKind::none;
};

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
