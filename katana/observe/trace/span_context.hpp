// SpanContext: the identity of a span for its children, in this process and in others.
//
// Owns       values only.
// Thread     values.
// Allocates  never.
// Fails      read_hex() returns nothing for text that is not a lowercase hexadecimal number.
// Invariant  a context is valid when neither its trace nor its span is zero (W3C Trace Context
//            §3.2.2).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"

namespace katana::trace {

inline constexpr std::size_t trace_id_digits = 32;  // of a TraceId in hexadecimal digits
inline constexpr std::size_t span_id_digits = 16;   // of a SpanId, likewise

// Writes `word` as 16 digits.
inline void write_hex(std::uint64_t word, char* to) noexcept {
  for (int digit = 0; digit < 16; ++digit, word <<= 4) to[digit] = "0123456789abcdef"[word >> 60];
}
// Reads at most 16 digits.
inline std::optional<std::uint64_t> read_hex(Bytes digits) noexcept {
  if (digits.empty() || digits.size() > 16) return std::nullopt;
  std::uint64_t word = 0;
  for (const char c : digits) {
    const bool decimal = c >= '0' && c <= '9';
    if (!decimal && !(c >= 'a' && c <= 'f')) return std::nullopt;
    word = word << 4 | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
  }
  return word;
}

// The id that all spans of a trace share; zero: none.
struct TraceId {
  std::uint64_t high = 0;  // the first 16 digits
  std::uint64_t low = 0;   // the rest; 56 bits of them decide about sampling

  bool operator==(const TraceId&) const = default;
  // Whether it is not zero.
  bool is_valid() const noexcept { return (high | low) != 0; }
  // The form in traceparent.
  std::array<char, trace_id_digits> hex() const noexcept {
    std::array<char, trace_id_digits> digits;
    write_hex(high, digits.data());
    write_hex(low, digits.data() + 16);
    return digits;
  }
};

// The id of one span of a trace; zero: none.
struct SpanId {
  std::uint64_t value = 0;  // all 16 digits

  bool operator==(const SpanId&) const = default;
  // Whether it is not zero.
  bool is_valid() const noexcept { return value != 0; }
  // The form in traceparent.
  std::array<char, span_id_digits> hex() const noexcept {
    std::array<char, span_id_digits> digits;
    write_hex(value, digits.data());
    return digits;
  }
};

// Flags of `traceparent`; the others are not passed on.
inline constexpr std::uint8_t flag_sampled = 0x01;
inline constexpr std::uint8_t flag_random = 0x02;  // of level 2: 56 bits of the trace are random

struct SpanContext {
  TraceId trace;           // its trace
  SpanId span;             // its own id
  std::uint8_t flags = 0;  // flag_sampled, flag_random
  bool is_remote = false;  // begun by another process

  bool operator==(const SpanContext&) const = default;
  // Whether both ids are valid.
  bool is_valid() const noexcept { return trace.is_valid() && span.is_valid(); }
  // Whether it is recorded.
  bool is_sampled() const noexcept { return (flags & flag_sampled) != 0; }
};

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
