#include "katana/base/text/columns.hpp"

#include <algorithm>

namespace katana {
namespace {

constexpr std::size_t row_indent = 2;
constexpr std::size_t gap_min = 2;            // smallest gap between a name and its meaning
constexpr std::size_t name_columns_max = 26;  // wider names have a separate line

}  // namespace

std::size_t columns_of(Bytes text) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string wrapped(Bytes text, std::size_t indent, std::size_t columns_max) {
  std::string lines;
  std::size_t column = indent;
  bool is_line_begin = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const Bytes word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t width = columns_of(word);
    if (!is_line_begin && column + 1 + width > columns_max) {
      lines += '\n';
      lines.append(indent, ' ');
      column = indent;
      is_line_begin = true;
    }
    if (!is_line_begin) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += width;
    is_line_begin = false;
  }
  return lines;
}

std::string help_table(std::span<const HelpRow> rows) {
  std::size_t widest = 0;
  for (const HelpRow& row : rows) {
    const std::size_t width = columns_of(row.name);
    if (width <= name_columns_max) widest = std::max(widest, width);
  }
  const std::size_t meaning_at = row_indent + widest + gap_min;
  std::string text;
  for (const HelpRow& row : rows) {
    text.append(row_indent, ' ');
    text += row.name;
    const std::size_t width = columns_of(row.name);
    if (!row.meaning.empty()) {
      if (width > widest) {
        text += '\n';
        text.append(meaning_at, ' ');
      } else {
        text.append(widest - width + gap_min, ' ');
      }
      text += wrapped(row.meaning, meaning_at);
    }
    text += '\n';
  }
  return text;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
