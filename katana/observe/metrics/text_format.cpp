#include "katana/observe/metrics/text_format.hpp"

#include <algorithm>

#include "katana/base/text/utf8.hpp"

namespace katana::metrics {
namespace {

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_name(std::string_view name, bool colons) noexcept {
  if (name.empty() || is_digit(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [colons](char c) {
    return is_letter(c) || is_digit(c) || (colons && c == ':');
  });
}

}  // namespace

bool is_metric_name(std::string_view name) noexcept { return is_name(name, true); }

bool is_label_name(std::string_view name) noexcept {
  return is_name(name, false) && !name.starts_with("__");
}

void append_label_value(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const Bytes character = take_character(value);
    if (character == "\n") {
      out += "\\n";
      continue;
    }
    if (character == "\\" || character == "\"") out += '\\';
    out += character;
  }
}

void append_help(std::string& out, std::string_view help, bool escape_quote) {
  for (const char c : help) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (c == '"' && escape_quote)) out += '\\';
    out += c;
  }
}

std::string canonical_number(double value) {
  char text[value_bytes_max];
  if (!std::isfinite(value)) return {text, write_value(text, value)};
  const double size = std::abs(value);
  const bool scientific = size != 0 && (size < 1e-4 || size >= 1e6);
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  std::string number(text, std::to_chars(text, text + sizeof text, value, format).ptr);
  if (!scientific && number.find('.') == std::string::npos) number += ".0";
  return number;
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
