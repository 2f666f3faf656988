// TraceParent: the header field that names the trace of a request (W3C Trace Context §3.2).
//
//   00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//   version, trace, parent, flags: lowercase hexadecimal digits
//
// Owns       nothing.
// Borrows    the parsed value.
// Thread     any.
// Allocates  never.
// Fails      returns nothing for a value that breaks a rule: such a field is ignored.
// Invariant  neither trace nor parent is all zeros.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/observe/trace/span_context.hpp"

namespace katana::trace {

inline constexpr std::size_t trace_parent_bytes = 55;  // of version 00

struct TraceParent {
  Bytes trace;             // 32 digits
  Bytes parent;            // 16 digits
  std::uint8_t flags = 0;  // as received, including unknown ones
  // Whether the caller records this trace.
  bool sampled() const noexcept { return (flags & 1) != 0; }
};

// A later version may have more text behind the flags, after a '-'; the known part is read.
std::optional<TraceParent> parse_trace_parent(Bytes value) noexcept;

// The context of a span that another process has begun. Flags that level 2 does not know are
// dropped.
SpanContext remote_context(const TraceParent& parent) noexcept;

// The value of the field for a call that `context` makes. REQUIRES that it is valid.
std::array<char, trace_parent_bytes> trace_parent_of(const SpanContext& context) noexcept;

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
