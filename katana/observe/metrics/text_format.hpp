// text_format: the small rules of Prometheus text 0.0.4 and OpenMetrics 1.0: names, escapes,
// numbers.
//
// Thread     any.
// Allocates  append_… the string that they append to; write_value() nothing.
// Fails      never: names are checked, not corrected.
// Source     https://prometheus.io/docs/instrumenting/exposition_formats/ and OpenMetrics 1.0.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace katana::metrics {

// [a-zA-Z_:][a-zA-Z0-9_:]*
bool is_metric_name(std::string_view name) noexcept;
// [a-zA-Z_][a-zA-Z0-9_]*, but no name that begins with "__", which belongs to Prometheus.
bool is_label_name(std::string_view name) noexcept;

// Appends a label's value for its quotes: backslash, line feed and quote are escaped; bytes that
// are not UTF-8 become U+FFFD.
void append_label_value(std::string& out, std::string_view value);
// Appends the help text. The quote is escaped in OpenMetrics only.
void append_help(std::string& out, std::string_view help, bool escape_quote);
// The form of `le` in OpenMetrics: "0.1", "1.0", "1e-05", "1e+06".
std::string canonical_number(double value);

inline constexpr std::size_t value_bytes_max = 32;  // of a number as text

// Writes at most value_bytes_max bytes. Returns the end.
inline char* write_value(char* out, std::uint64_t value) noexcept {
  return std::to_chars(out, out + value_bytes_max, value).ptr;
}
inline char* write_value(char* out, double value) noexcept {
  // Most values are counts, whose digits are found far sooner than the shortest form of a double.
  constexpr double exact_below = 1e15;
  if (value >= 0 && value < exact_below && value == std::floor(value)) {
    return write_value(out, static_cast<std::uint64_t>(value));
  }
  if (std::isfinite(value)) [[likely]] {
    return std::to_chars(out, out + value_bytes_max, value).ptr;
  }
  const std::string_view text = std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
