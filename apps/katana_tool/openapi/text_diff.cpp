#include "katana_tool/openapi/text_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace katana::tool {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t cells_max = 16 * 1024 * 1024;
constexpr std::size_t context_lines = 3;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

struct Edit {
  char mark;  // ' ', '-', '+'
  std::string_view line;
};

// The middle, by the longest common subsequence.
void add_middle(std::vector<Edit>& edits, const Lines& before, const Lines& after) {
  const std::size_t rows = before.size(), columns = after.size();
  std::size_t row = 0, column = 0;
  if ((rows + 1) * (columns + 1) <= cells_max) {
    std::vector<std::uint32_t> lengths((rows + 1) * (columns + 1));  // from there to the ends
    const auto at = [&](std::size_t r, std::size_t c) -> std::uint32_t& {
      return lengths[r * (columns + 1) + c];
    };
    for (std::size_t r = rows; r-- > 0;) {
      for (std::size_t c = columns; c-- > 0;) {
        at(r, c) =
            before[r] == after[c] ? at(r + 1, c + 1) + 1 : std::max(at(r + 1, c), at(r, c + 1));
      }
    }
    while (row < rows && column < columns) {
      if (before[row] == after[column]) {
        edits.push_back({' ', before[row++]});
        ++column;
      } else if (at(row + 1, column) >= at(row, column + 1)) {
        edits.push_back({'-', before[row++]});
      } else {
        edits.push_back({'+', after[column++]});
      }
    }
  }
  while (row < rows) edits.push_back({'-', before[row++]});
  while (column < columns) edits.push_back({'+', after[column++]});
}

std::vector<Edit> edits_of(const Lines& before, const Lines& after) {
  const auto [first, first_after] = std::ranges::mismatch(before, after);
  const auto head = static_cast<std::size_t>(first - before.begin());
  const std::size_t rest_max = std::min(before.size(), after.size()) - head;
  std::size_t tail = 0;
  while (tail < rest_max && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  const auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head),
                 lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  std::vector<Edit> edits;
  for (std::size_t index = 0; index < head; ++index) edits.push_back({' ', before[index]});
  add_middle(edits, middle(before), middle(after));
  for (std::size_t left = tail; left > 0; --left) {
    edits.push_back({' ', before[before.size() - left]});
  }
  return edits;
}

}  // namespace

std::string text_diff(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const std::vector<Edit> edits = edits_of(lines_of(before), lines_of(after));
  std::vector<bool> is_shown(edits.size());
  for (std::size_t index = 0; index < edits.size(); ++index) {
    if (edits[index].mark == ' ') continue;
    const std::size_t begin = index < context_lines ? 0 : index - context_lines;
    const std::size_t end = std::min(edits.size(), index + context_lines + 1);
    for (std::size_t near = begin; near < end; ++near) is_shown[near] = true;
  }
  std::string text;
  std::size_t line = 1;  // in `before`
  for (std::size_t index = 0; index < edits.size(); ++index) {
    if (is_shown[index]) {
      if (index == 0 || !is_shown[index - 1]) text += fmt::format("@@ line {} @@\n", line);
      text += fmt::format("{}{}\n", edits[index].mark, edits[index].line);
    }
    if (edits[index].mark != '+') ++line;
  }
  return text.empty() ? "@@ the end @@\n the last line ends differently\n" : text;
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
