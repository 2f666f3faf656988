// What the small programs share of a command line: parsing it, and failing in one line.
//
// Owns       nothing.
// Thread     one, before others are begun.
// Allocates  freely.
// Fails      wrong usage is a line on standard error and status 2.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "katana/base/system/printing.hpp"

namespace command_line {

// Prints the message as one line, whatever it looks like, and returns the status.
inline int fail(std::string_view program, int status, std::string_view message) {
  std::string line(message);
  std::ranges::replace(line, '\n', ' ');
  katana::print_error_line(fmt::format("{}: {}", program, line), katana::last_words_max);
  return status;
}

// The status to exit with, if the program is to end here: --help, --version, or wrong usage.
inline std::optional<int> parse(CLI::App& app, int count, char** arguments) {
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(app.get_name(), 2, fmt::format("{} (see --help)", error.what()));
  }
  return std::nullopt;
}

}  // namespace command_line

// SPDX-License-Identifier: Apache-2.0
