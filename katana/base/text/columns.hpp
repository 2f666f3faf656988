// Text for terminals: lines of at most 80 columns, and a table of names and what they mean.
//
// Owns       the results.
// Thread     any.
// Allocates  the results.
// Fails      never. A word that is wider than its column is not broken.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana {

// Width of a line of help.
inline constexpr std::size_t terminal_columns = 80;

// Code points of `text`, which is UTF-8: a column each.
std::size_t columns_of(Bytes text) noexcept;

// The words of `text` on lines of at most `columns_max` columns. Each line after the first begins
// with `indent` spaces, and the first is taken to begin at column `indent`. No line end follows.
std::string wrapped(Bytes text, std::size_t indent = 0, std::size_t columns_max = terminal_columns);

// A row of a table of flags or commands.
struct HelpRow {
  std::string name;     // a flag with the word for its value, or a command
  std::string meaning;  // one sentence; it is wrapped
};

// One row below the other, each indented by two spaces and ended by a line end. Meanings begin at
// one column; below its name where that does not leave them room.
std::string help_table(std::span<const HelpRow> rows);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
