#include "katana/observe/trace/trace_parent.hpp"

#include <algorithm>

namespace katana::trace {
namespace {

constexpr bool is_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}
constexpr unsigned value_of(char c) noexcept {
  return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
}
bool are_digits(Bytes text) noexcept { return std::ranges::all_of(text, is_digit); }
bool is_zero(Bytes text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c == '0'; });
}

}  // namespace

std::optional<TraceParent> parse_trace_parent(Bytes value) noexcept {
  if (value.size() < trace_parent_bytes) return std::nullopt;
  const Bytes version = value.substr(0, 2), trace = value.substr(3, 32),
              parent = value.substr(36, 16), flags = value.substr(53, 2);
  const bool separated = value[2] == '-' && value[35] == '-' && value[52] == '-';
  if (!separated || !are_digits(version) || version == "ff") return std::nullopt;
  // Version 00 ends here; a later one may go on after another '-'.
  const bool longer = value.size() > trace_parent_bytes;
  if (longer && (version == "00" || value[trace_parent_bytes] != '-')) return std::nullopt;
  if (!are_digits(trace) || !are_digits(parent) || !are_digits(flags)) return std::nullopt;
  if (is_zero(trace) || is_zero(parent)) return std::nullopt;
  return TraceParent{trace, parent,
                     static_cast<std::uint8_t>(value_of(flags[0]) << 4 | value_of(flags[1]))};
}

SpanContext remote_context(const TraceParent& parent) noexcept {
  return {.trace = {read_hex(parent.trace.substr(0, 16)).value_or(0),
                    read_hex(parent.trace.substr(16)).value_or(0)},
          .span = {read_hex(parent.parent).value_or(0)},
          .flags = static_cast<std::uint8_t>(parent.flags & (flag_sampled | flag_random)),
          .is_remote = true};
}

std::array<char, trace_parent_bytes> trace_parent_of(const SpanContext& context) noexcept {
  std::array<char, trace_parent_bytes> value;
  value[0] = value[1] = '0';
  value[2] = value[35] = value[52] = '-';
  write_hex(context.trace.high, &value[3]);
  write_hex(context.trace.low, &value[19]);
  write_hex(context.span.value, &value[36]);
  value[53] = '0';
  value[54] = static_cast<char>('0' + (context.flags & (flag_sampled | flag_random)));
  return value;
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
