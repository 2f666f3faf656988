// Text for terminals: lines of at most 80 columns, and a table of names with their meanings.
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

// The width of a line of help.
inline constexpr std::size_t terminal_columns = 80;

// The number of columns of `text`, which is UTF-8: one for each code point.
std::size_t columns_of(Bytes text) noexcept;

// Wraps the words of `text` to lines of at most `columns_max` columns. The first line is assumed to
// begin at column `indent`; all others begin with `indent` spaces. No line end follows.
std::string wrapped(Bytes text, std::size_t indent = 0, std::size_t columns_max = terminal_columns);

// A row of a table of flags or commands.
struct HelpRow {
  std::string name;     // a flag with the word for its value, or a command
  std::string meaning;  // one sentence; it is wrapped
};

// Formats a table: each row is indented by two spaces and has a line end. All meanings begin in one
// column. A meaning stands below its name if there is too little room.
std::string help_table(std::span<const HelpRow> rows);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
