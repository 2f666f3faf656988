// The table of a command line, as the help, completion and the manual page read it.
//
// Owns       nothing.
// Thread     one.
// Allocates  the results.
// Fails      never.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace command_line {

// The entries of --help, in its order: the subcommands, flags and positionals of an application.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
std::vector<const CLI::Option*> flags_of(const CLI::App& app);
std::vector<const CLI::Option*> positionals_of(const CLI::App& app);

// "FILE" of the value, "N" of a number, or empty: the flag takes none.
std::string value_name(const CLI::Option& option);
// The words of an option that takes one of a set.
std::vector<std::string> choices_of(const CLI::Option& option);
// "0–65535" of an option that takes a number between two, or empty.
std::string range_of(const CLI::Option& option);
// The description, with the range, the default and the environment variable behind it.
std::string meaning_of(const CLI::Option& option);

}  // namespace command_line

// SPDX-License-Identifier: Apache-2.0
