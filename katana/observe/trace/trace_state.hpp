// TraceState: the vendors' data about a trace, passed on unchanged (W3C Trace Context §3.3).
//
//   TraceState state;
//   for (Bytes value : values of the field "tracestate") state.add(value);
//   state.text()                                   // "vendor=1,other=2", or empty
//
// A state that breaks a rule is dropped as a whole (§3.3.1), and the trace goes on without one. A
// state that is too long loses members of more than 128 bytes, then those at its end, as §3.3.1.5
// says.
//
// Owns       at most trace_state_bytes_max bytes.
// Thread     a value.
// Allocates  never.
// Fails      is_malformed() and is_cut() report its fate.
// Invariant  text() is empty, or a list of at most 32 members that keeps the rules.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::trace {

inline constexpr std::size_t trace_state_bytes_max = 512;   // that are kept (§3.3.1.5)
inline constexpr std::size_t trace_state_members_max = 32;  // more are malformed (§3.3.1.1)

class TraceState {
 public:
  TraceState() noexcept {}

  // Adds one value of the field; several fields form one list, in their order.
  void add(Bytes value) noexcept;
  Bytes text() const noexcept { return is_malformed_ ? Bytes() : Bytes(octets_.data(), size_); }
  bool is_malformed() const noexcept { return is_malformed_; }
  bool is_cut() const noexcept { return is_cut_; }

 private:
  void add_member(Bytes member) noexcept;
  bool has(Bytes key) const noexcept;
  bool drop_long_members() noexcept;

  std::array<char, trace_state_bytes_max> octets_;
  std::uint16_t size_ = 0;
  std::uint8_t members_ = 0;
  bool is_malformed_ = false;
  bool is_cut_ = false;
};

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
